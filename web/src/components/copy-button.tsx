import { notify } from '../state/notices.ts';
import { Icon } from './icon.tsx';

/** Copies a text. Pages without TLS have no clipboard, so the text is selected in a field there. */
async function copy(text: string): Promise<void> {
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

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <button
      type="button"
      onClick={() => {
        copy(text).then(
          () => notify('Copied'),
          () => notify('The browser does not allow copying', { tone: 'error' }),
        );
      }}
    >
      <Icon name="copy" />
      {label}
    </button>
  );
}
