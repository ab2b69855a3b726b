/** Functions available to programs. Source: spec/04 2.7, "Variables and functions". */
export const PRELUDE = `
(function (global) {
  var now = global.nowMs / 1000;
  delete global.nowMs;
  function seconds(ts) { return typeof ts === 'number' && isFinite(ts) ? Math.trunc(ts) : 0; }
  function utc(name) {
    return function (ts) { return new Date(seconds(ts) * 1000)[name](); };
  }
  global.hour = utc('getUTCHours');
  global.minute = utc('getUTCMinutes');
  global.second = utc('getUTCSeconds');
  global.weekday = utc('getUTCDay');
  global.seconds_since = function (ts) { return now - seconds(ts); };
})(this);
`;
