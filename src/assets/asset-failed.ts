import { describeSocketError } from '../formats/socket-error.ts';

/** An asset cannot be used. The message names the asset and the reason. */
export class AssetFailed extends Error {
  readonly asset: string;
  /** The reason alone, in the words of the reference. */
  readonly reason: string;

  constructor(asset: string, reason: string, options?: ErrorOptions) {
    super(`asset "${asset}": ${reason}`, options);
    this.asset = asset;
    this.reason = reason;
  }
}

/** A reason why an archive cannot be fetched or unpacked. */
export class FetchFailed extends Error {}

/** The text of an error of the system or of a library, which sometimes is in its code or in the errors that it joins. */
export function causeText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const described = describeSocketError(error);
  if (described !== undefined) return described;
  if (error.message !== '') return error.message;
  if (error instanceof AggregateError) return [...new Set(error.errors.map(causeText))].join(', ');
  return (error as NodeJS.ErrnoException).code ?? error.name;
}
