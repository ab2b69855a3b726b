import { notify } from '../state/notices.ts';

/** Puts a text into the clipboard. Pages without TLS have none, so the text is selected in a field there. */
async function put(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** Copies a text and says so. */
export function copy(text: string): void {
  put(text).then(
    () => notify('Copied'),
    () => notify('The browser does not allow copying', { tone: 'error' }),
  );
}
