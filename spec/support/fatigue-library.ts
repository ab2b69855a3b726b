/**
 * A library that keeps repeated alerts from people, with the parameters of a published one: annotations of the check or, first, of
 * its entity. It is written as such libraries are: for old engines, with undeclared globals and output to the console.
 */
export const FATIGUE_LIBRARY = `
// Passes the occurrence number N, then one in each interval, and resolutions of what passed.
var PREFIX = 'fatigue_check/';

function setting(event, name, fallback) {
  key = PREFIX + name;
  found = fallback;
  if (event.check.annotations.hasOwnProperty(key)) found = event.check.annotations[key];
  if (event.entity.annotations.hasOwnProperty(key)) found = event.entity.annotations[key];
  return found;
}

function fatigue_check(event, occurrences, interval) {
  allow_resolution = setting(event, 'allow_resolution', 'true') == 'true';
  suppress_flapping = setting(event, 'suppress_flapping', 'true') == 'true';
  first = parseInt(setting(event, 'occurrences', occurrences || 1), 10);
  every_s = parseInt(setting(event, 'interval', interval || 1800), 10);
  if (event.check.name == 'keepalive') {
    first = parseInt(setting(event, 'keepalive_occurrences', first), 10);
    every_s = parseInt(setting(event, 'keepalive_interval', every_s), 10);
  }

  period_s = event.check.interval;
  if (event.check.cron.length > 0) {
    last = event.check.history.length - 1;
    period_s = last > 0 ? event.check.history[last].executed - event.check.history[last - 1].executed : 60;
  }

  if (suppress_flapping && event.check.state == 'flapping') {
    console.log('fatigue: ' + event.entity.name + '/' + event.check.name + ' is flapping');
    return false;
  }
  if (event.check.status == 0) return allow_resolution && event.check.occurrences_watermark >= first;
  if (event.check.occurrences < first) return false;
  repeat = Math.ceil(every_s / Math.max(period_s, 1));
  return (event.check.occurrences - first) % repeat == 0;
}
`;
