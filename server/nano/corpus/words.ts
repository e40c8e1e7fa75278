/**
 * Names and words of the corpus, in two parts: `train` is what the model sees, `heldOut` is what it is
 * evaluated on. Invented names of syllables stand among the first, so that copying does not depend on a list.
 */
import type { Random } from './random';

export type Part = 'train' | 'plain' | 'heldOut';

/** `plain` has the words of `train`, with few invented ones: what a rehearsed answer should sound like. */
type List = 'train' | 'heldOut';
export const listOf = (part: Part): List => (part === 'heldOut' ? 'heldOut' : 'train');
const INVENTED: Record<Part, number> = { train: 0.4, plain: 0.05, heldOut: 0 };

const split = (text: string) => text.trim().split(/\s+/);

const FIRST: Record<List, string[]> = {
  train:
    split(`Ada Adam Aisha Alan Alice Amara Amir Ana Andrea Anita Anton Ariel Astrid Ben Bianca Boris Bruno Carl
    Carmen Chen Chloe Cora Daniel Daria David Dina Elena Elias Ella Emil Emma Erik Esther Eva Farid Felix Fiona
    Frida George Gina Greta Hana Hans Helen Hugo Ian Igor Ines Ivan Jack Jan Jana Jonas Julia Kai Karim Kate Kenji
    Kira Lars Laura Lea Leo Lena Lily Lucas Lucy Luis Maja Marco Maria Mark Marta Mateo Max Maya Milan Mila Mira
    Nadia Nina Noah Nora Olga Oliver Omar Oscar Otto Paula Pedro Peter Petra Priya Rafael Rosa Ruth Sam Sara Sergio
    Silvia Simon Sofia Sonia Stefan Sven Tara Theo Thomas Tina Tom Uma Vera Victor Viola Walter Yara Yasmin Zoe`),
  heldOut:
    split(`Yusuf Mia Liam Anna Ravi Clara Mei Ethan Olivia Fatima Aarav Ingrid Raj Isabella Harper Diego
    Leila Noel Freya Tariq Camila Dmitri Nikhil Selma Joana Henrik Zara Malik Bea Tobias`),
};

const LAST: Record<List, string[]> = {
  train:
    split(`Abe Adler Alvarez Baker Bauer Becker Berg Bianchi Bond Brandt Brown Castro Clark Cohen Costa Cruz Dahl
    Davis Diaz Dubois Duran Engel Evans Farah Ferrari Fischer Flores Fox Garcia Gomez Gray Green Haas Haddad Hall
    Hansen Hill Hoffman Horvat Hughes Ito Ivanov Jansen Jones Kaur Keller Khan Kim King Klein Koch Kumar Lang Larsen
    Lee Lopez Maier Mann Marin Martin Meyer Mills Mora Morgan Moss Nagy Nash Nielsen Novak Olsen Ortega Park Patel
    Pavlov Perez Petrov Popov Quinn Ramos Reed Reyes Ricci Rios Roth Rubin Russo Sato Schmidt Scott Shah Silva
    Singh Smith Stone Suzuki Tanaka Torres Vega Wagner Walker Wang Weber West White Wolf Wood Yilmaz Young Zhang`),
  heldOut:
    split(`Rossi Kovacs Okafor Lindqvist Mehta Duarte Santos Moretti Nguyen Hernandez Ahmed Johansson Lambert
    Watanabe Osei Fitzgerald Romero Laine Barros Chowdhury Sokolova Eriksen Mbeki Vance Thorne Galvez`),
};

const CITIES: Record<List, string[]> = {
  train:
    split(`Atlanta Berlin Boston Bristol Chicago Cleveland Columbus Dublin Fresno Geneva Hamburg Houston Kansas
    Leeds Lisbon London Lyon Madrid Memphis Miami Milan Munich Nashville Oakland Omaha Oslo Oxford Paris Phoenix
    Porto Prague Richmond Rome Tampa Tucson Turin Vienna Zurich`),
  heldOut: split('Denver Austin Seattle Portland Dallas Helsinki Toronto Krakow Valencia Ghent'),
};

const STREETS: Record<List, string[]> = {
  train:
    split(`Bridge Cedar Chestnut Elm Forest Grove High King Linden Long Main Market Meadow Mill North Orchard Park
    Pine Queen River Rose School South Spring Summit Sunset Union Valley Victoria Walnut Water West Willow`),
  heldOut: split('Oak Maple Hill Station Lake Garden Church Harbor Juniper Birch'),
};

const THINGS: Record<List, string[]> = {
  train:
    split(`Backpack Basket Bench Bicycle Bookcase Bowl Camera Candle Carpet Clock Coat Cup Curtain Drill Fan Fork
    Guitar Hammer Hat Headphones Helmet Jar Kettle Keyboard Knife Ladder Mirror Monitor Mouse Mug Notebook Oven Pan
    Pen Pillow Plate Printer Radio Ring Rug Scarf Shelf Shirt Shoes Sofa Speaker Spoon Table Tablet Tent Toaster
    Towel Tripod Umbrella Vase Wallet Watch`),
  heldOut: split('Lamp Bag Blanket Chair Jacket Bottle Puzzle Skateboard Telescope Router Gloves Desk'),
};

const MATERIALS: Record<List, string[]> = {
  train:
    split(`Black Blue Bright Ceramic Classic Copper Cotton Electric Garden Glass Gold Green Grey Heavy Iron Kitchen
    Large Leather Light Linen Metal Mini Modern Outdoor Paper Plastic Red Round Silver Small Smart Soft Steel Stone
    White Winter Wooden Yellow`),
  heldOut: split('Wool Rain Travel Office Water Bamboo Velvet Folding Marble Purple'),
};

/** Words that are copied and never understood, in lower case. */
export function properNouns(): string[] {
  const lists = [FIRST, LAST, CITIES, STREETS, THINGS, MATERIALS].flatMap((list) => [
    ...list.train,
    ...list.heldOut,
  ]);
  return lists.map((word) => word.toLowerCase());
}

const SYLLABLES =
  split(`ba be bi bo bra ca ce cla da de di do dra el en er fa fi fre ga ge go gri ha he hu il in is ja
  jo ka ke ki kra la le li lo lu ma me mi mo na ne ni no o pa pe pi pra qua ra re ri ro sa se shi so sta ta te thi
  to tra u va ve vi vo wa we win xa ya yo za ze zi`);

const ENDINGS = ['', '', '', 'n', 's', 'r', 'l', 'th', 'nd', 'ck', 'm', 'x'];

/** An invented word of two to four syllables, in lower case. */
export function inventedWord(random: Random): string {
  return (
    Array.from({ length: random.int(2, 3) }, () => random.pick(SYLLABLES)).join('') + random.pick(ENDINGS)
  );
}

export const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** A proper noun of a list, or (in training) often an invented one. */
function proper(random: Random, part: Part, lists: Record<List, string[]>): string {
  const invented = part !== 'heldOut' && random.chance(INVENTED[part]);
  return invented ? capital(inventedWord(random)) : random.pick(lists[listOf(part)]);
}

export const firstName = (random: Random, part: Part) => proper(random, part, FIRST);
const lastName = (random: Random, part: Part) => proper(random, part, LAST);
export const fullName = (random: Random, part: Part) =>
  `${firstName(random, part)} ${lastName(random, part)}`;
export const city = (random: Random, part: Part) => proper(random, part, CITIES);

export function product(random: Random, part: Part): string {
  return `${random.pick(MATERIALS[listOf(part)])} ${proper(random, part, THINGS)}`;
}

export function address(random: Random, part: Part): string {
  const kind = random.pick(['Street', 'Road', 'Lane', 'Avenue']);
  return `${random.int(1, 999)} ${proper(random, part, STREETS)} ${kind}, ${city(random, part)}`;
}

/** An e-mail address made from a name: the usual shapes, with and without digits. */
export function email(random: Random, name: string): string {
  const [first = '', last = ''] = name.toLowerCase().split(' ');
  const local = random.weighted({
    [`${first}.${last}`]: 5,
    [`${first}_${last}`]: 1,
    [`${first.charAt(0)}${last}`]: 1,
    [first]: 1,
  });
  const digits = random.chance(0.6) ? random.digits(random.int(1, 3)) : '';
  const host = random.chance(0.7) ? 'example' : random.chance(0.5) ? inventedWord(random) : 'mail';
  return `${local}${digits}@${host}.${random.pick(['com', 'com', 'org', 'net'])}`;
}

export function date(random: Random): string {
  const two = (n: number) => String(n).padStart(2, '0');
  return `${random.int(2025, 2027)}-${two(random.int(1, 12))}-${two(random.int(1, 28))}`;
}

export function time(random: Random): string {
  return `${String(random.int(6, 22)).padStart(2, '0')}:${random.pick(['00', '05', '10', '15', '20', '30', '40', '45', '50'])}`;
}
