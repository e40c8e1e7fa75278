/** The HTML that holds a webview: a strict policy, our bundle, and nothing that a model wrote. */
import crypto from 'node:crypto';
import * as vscode from 'vscode';

export interface PageOptions {
  webview: vscode.Webview;
  extension: vscode.Uri;
  /** Name of the bundle in `dist/webview`. */
  bundle: string;
  title: string;
  /** `data-` attributes of the body. */
  data?: { [name: string]: string };
}

export function assetsOf(extension: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(extension, 'dist', 'webview');
}

export function pageOf({ webview, extension, bundle, title, data = {} }: PageOptions): string {
  const nonce = crypto.randomBytes(16).toString('base64url');
  const asset = (name: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(assetsOf(extension), name)).toString();
  // The toolkit's components put style elements into the page, with the nonce that `csp-nonce` names.
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource} 'nonce-${nonce}'`,
    `font-src ${webview.cspSource}`,
  ].join('; ');
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escaped(value)}"`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${nonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${asset('codicon.css')}">
<link rel="stylesheet" href="${asset(`${bundle}.css`)}">
</head>
<body${attributes.join('')}>
<main id="app"></main>
<script nonce="${nonce}" src="${asset(`${bundle}.js`)}"></script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
