/** What inputs were, in numbers that add up. */
export class Tally {
  /** Merged into what is stored. */
  checkEvents = 0;
  /** Without a check: handled only. */
  metricEvents = 0;
  metricPoints = 0;
  keepalives = 0;
  /** Alerts that no keepalive came. */
  missedKeepalives = 0;

  add(other: Tally): void {
    this.checkEvents += other.checkEvents;
    this.metricEvents += other.metricEvents;
    this.metricPoints += other.metricPoints;
    this.keepalives += other.keepalives;
    this.missedKeepalives += other.missedKeepalives;
  }
}
