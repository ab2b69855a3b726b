interface BulkBarProps {
  count: number;
  onSilence: () => void;
  onResolve: () => void;
  onRun: () => void;
  onDelete: () => void;
  onClear: () => void;
}

/** What can be done with the selected events. */
export function BulkBar({ count, onSilence, onResolve, onRun, onDelete, onClear }: BulkBarProps) {
  return (
    <div class="bulk-bar" role="region" aria-label="Selected events">
      <strong aria-live="polite">{count} selected</strong>
      <button type="button" onClick={onSilence}>
        Silence
      </button>
      <button type="button" onClick={onResolve}>
        Resolve
      </button>
      <button type="button" onClick={onRun}>
        Run again
      </button>
      <button type="button" class="button-danger" onClick={onDelete}>
        Delete
      </button>
      <button type="button" class="button-link" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}
