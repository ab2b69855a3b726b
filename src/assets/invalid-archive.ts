/** An archive that is refused because of an entry. */
export class InvalidArchive extends Error {
  constructor(path: string, rule: string) {
    super(`entry ${JSON.stringify(path)} ${rule}`);
  }
}
