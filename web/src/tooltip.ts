// The one box that follows the pointer, or the cursor of the keyboard.
import { clear, h, append, styled, type Child } from './dom';

let box: HTMLElement | undefined;

function the_box(): HTMLElement {
  if (!box) {
    box = h('div', { class: 'tooltip', role: 'status', 'aria-live': 'polite', hidden: true });
    document.body.appendChild(box);
  }
  return box;
}

/** At a point of the window; it stays inside. */
export function show(x: number, y: number, ...content: Child[]): void {
  const node = the_box();
  clear(node);
  append(node, content);
  node.hidden = false;
  const { width, height } = node.getBoundingClientRect();
  const left = x + 14 + width > innerWidth - 8 ? Math.max(8, x - width - 14) : x + 14;
  const top = Math.max(8, Math.min(y + 14, innerHeight - height - 8));
  styled(node, { left: `${left}px`, top: `${top}px` });
}

export function hide(): void {
  if (box) box.hidden = true;
}
