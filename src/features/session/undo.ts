/** Where a session stood before each step, so that Step Back undoes one, also one that forked. */
import { stepBefore } from '../../core/rehearsal/drivers';
import type { Session } from '../../core/rehearsal/session';

interface Place {
  at: number;
  tip: number;
}

export class Undo {
  private readonly places: Place[] = [];

  constructor(private readonly session: Session) {}

  /** Where it stands: to be given to `did` once a step was made from there. */
  place(): Place {
    return { at: this.session.cursor.id, tip: this.session.tip.id };
  }

  did(from: Place): void {
    this.places.push(from);
  }

  /** Back to before the last step; without one, a step towards the start. */
  undo(): void {
    const last = this.places.pop();
    if (last) {
      this.session.move(last.tip);
      this.session.move(last.at);
    } else {
      this.session.move(stepBefore(this.session, this.session.cursor.id).id);
    }
  }
}
