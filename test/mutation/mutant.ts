/** A small wrong change of the product that the tests must notice. */
export interface Mutant {
  /** What a user would suffer. */
  readonly what: string;
  readonly file: string;
  /** Stands in the file once, so that a change of the code is noticed here. */
  readonly from: string;
  readonly to: string;
  /** Beginnings of the paths of the tests that are to notice. */
  readonly tests: readonly string[];
}
