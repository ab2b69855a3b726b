/** A recorded step at which another document decides. */
export interface GoldenException {
  /** The recording, relative to `spec/golden`. */
  recording: string;
  /** The step number from 1, or the name of a scenario, or of a value that is replaced wherever it occurs in the recording. */
  step: number | string;
  /** Members that replace the recorded ones. */
  ours: unknown;
  why: string;
}
