const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});

/** The time of day with milliseconds; on another day with its date. */
export function clockTime(atMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date().toDateString();
  return isToday ? CLOCK.format(atMs) : `${new Date(atMs).toLocaleDateString()} ${CLOCK.format(atMs)}`;
}
