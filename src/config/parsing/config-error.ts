export interface Mistake {
  /** The flag without dashes; undefined for anything that is not a flag of the program. */
  flag: string | undefined;
  rule: string;
}

/** All mistakes in the settings. */
export class ConfigError extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ rule }) => rule).join('; '));
    this.mistakes = mistakes;
  }
}
