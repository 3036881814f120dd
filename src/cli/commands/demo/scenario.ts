import type { Look } from "./happenings";
import type { Stage } from "./stage";

/** One story: what is done, and what must follow. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** What a newcomer must know to follow it, in a few short lines. */
  readonly about: readonly string[];
  /** Plays it. The first scenario starts with no process, the others with a registered driver; each ends with one. */
  play(play: Play): Promise<void>;
}

/** What a scenario works with. Steps count from the latest deed on. */
export interface Play extends Pick<Stage, "start" | "stop" | "kill" | "deleteRegistrationSocket" | "short"> {
  /** Announces what the demo does to the actors, and does it. */
  deed(text: string, act: () => void | Promise<void>): Promise<void>;
  /**
   * Waits until it happens, then writes what was found and how many milliseconds after the deed. Rejects with
   * MissedStep when it does not happen within 10 s, or when an actor ends unasked.
   */
  step<Found>(
    awaited: string,
    look: Look<Found>,
    says: (found: Found, sinceDeedMs: number) => string,
  ): Promise<Found>;
  /** The same, but writes nothing: it is part of the next step. */
  expect<Found>(awaited: string, look: Look<Found>): Promise<Found>;
  /** Writes that something did not happen for this long after the deed. Rejects with MissedStep where it did. */
  calm<Found>(forMs: number, look: Look<Found>, says: string): Promise<void>;
  /** Shows an object as YAML. */
  show(object: object): Promise<void>;
}
