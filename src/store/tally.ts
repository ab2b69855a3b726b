/** Counts of inputs by type. */
export class Tally {
  /** Events with a check, which are merged into the stored ones. */
  checkEvents = 0;
  /** Events without a check, which are handled but not stored. */
  metricEvents = 0;
  metricPoints = 0;
  keepalives = 0;
  /** Alerts about missing keepalives. */
  missedKeepalives = 0;

  add(other: Tally): void {
    this.checkEvents += other.checkEvents;
    this.metricEvents += other.metricEvents;
    this.metricPoints += other.metricPoints;
    this.keepalives += other.keepalives;
    this.missedKeepalives += other.missedKeepalives;
  }
}
