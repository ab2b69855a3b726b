import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

/** A button that opens a few links and buttons. */
export function Menu({
  label,
  icon,
  text,
  children,
}: {
  label: string;
  icon: IconName;
  text?: string;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      const details = element.current;
      if (details === null || !details.open) return;
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return;
      const isInside = event.target instanceof Node && details.contains(event.target);
      if (event instanceof MouseEvent && isInside) return;
      details.open = false;
      if (event instanceof KeyboardEvent) details.querySelector('summary')?.focus();
    };
    addEventListener('click', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('click', close);
      removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details class="menu" ref={element}>
      <summary aria-label={text === undefined ? label : `${label}: ${text}`}>
        <Icon name={icon} />
        {text !== undefined && <span class="menu-text">{text}</span>}
      </summary>
      <div
        class="menu-items"
        onClick={() => {
          if (element.current !== null) element.current.open = false;
        }}
      >
        {children}
      </div>
    </details>
  );
}
