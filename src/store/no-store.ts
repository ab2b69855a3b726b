/** There is no store where the operator said. */
export class NoStore extends Error {
  readonly code = 'no-store';

  constructor(directory: string) {
    super(`there is no store in ${directory}; --state-dir names the state directory of the backend`);
  }
}
