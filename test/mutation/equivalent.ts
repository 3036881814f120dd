/** A mutant of Stryker's that changes nothing that anybody could see. */
export interface Equivalent {
  readonly file: string;
  /** The lines that it changes, white space apart, as they are and as it makes them. */
  readonly from: string;
  readonly to: string;
  /** Why nobody can see it. */
  readonly why: string;
}

/** Lines as they are compared. */
export const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();
