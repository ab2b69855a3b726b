/** The data file of the store is not a database, or parts of it are missing or overwritten. */
export class StoreDamaged extends Error {
  readonly code = 'store-damaged';
}
