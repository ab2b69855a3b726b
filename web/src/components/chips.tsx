import { withoutLabel } from '../routing/label-query.ts';
import { copy } from './copy.ts';
import { Icon } from './icon.tsx';

interface LabelsProps {
  labels: Readonly<Record<string, string>>;
  /** The address that filters by a label, written as `name=value`. */
  hrefOf?: (label: string) => string;
  /** Whether each label has a button that copies it. */
  isCopyable?: boolean;
}

/** Labels as links that filter by them. */
export function Labels({ labels, hrefOf, isCopyable = false }: LabelsProps) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <span class="chips">
      {entries.map(([name, value]) => {
        const text = `${name}=${value}`;
        return (
          <span key={name} class="chip" title={text}>
            <ChipText name={name} value={value} href={hrefOf?.(text)} />
            {isCopyable && <CopyLabel label={text} />}
          </span>
        );
      })}
    </span>
  );
}

function ChipText({ name, value, href }: { name: string; value: string; href: string | undefined }) {
  const content = (
    <>
      <span class="muted">{name}</span> {value}
    </>
  );
  return href === undefined ? (
    <span class="chip-text">{content}</span>
  ) : (
    <a class="chip-text" href={href} aria-label={`Only ${name}=${value}`}>
      {content}
    </a>
  );
}

function CopyLabel({ label }: { label: string }) {
  return (
    <button type="button" class="chip-button" aria-label={`Copy ${label}`} title="Copy" onClick={() => copy(label)}>
      <Icon name="copy" />
    </button>
  );
}

/** The labels that a list is filtered by. Each can be copied and left out. */
export function ActiveLabels({ labels }: { labels: readonly string[] }) {
  if (labels.length === 0) return null;
  return (
    <p class="chips active-labels">
      {labels.map((label) => (
        <span key={label} class="chip chip-active">
          <span class="chip-text">{label}</span>
          <CopyLabel label={label} />
          <a class="chip-button" href={withoutLabel(label)} aria-label={`Without ${label}`} title="Leave out">
            <Icon name="close" />
          </a>
        </span>
      ))}
    </p>
  );
}
