import { copy } from './copy.ts';
import { Icon } from './icon.tsx';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <button type="button" onClick={() => copy(text)}>
      <Icon name="copy" />
      {label}
    </button>
  );
}
