// Runs before the first paint, so that a chosen theme does not flash.
{
  const { theme, contrast } = JSON.parse(localStorage.getItem('mon.settings') ?? '{}');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  if (contrast === 'high') document.documentElement.dataset.contrast = 'high';
}
