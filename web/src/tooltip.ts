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

/** `read`: those who do not see the box hear it. Returns it with its size. */
function filled(content: Child[], read: boolean): { node: HTMLElement; width: number; height: number } {
  const node = the_box();
  node.setAttribute('aria-live', read ? 'polite' : 'off');
  node.classList.toggle('still', !read);
  clear(node);
  append(node, content);
  node.hidden = false;
  const { width, height } = node.getBoundingClientRect();
  return { node, width, height };
}

/** At a point of the window; it stays inside. */
export function show(x: number, y: number, ...content: Child[]): void {
  const { node, width, height } = filled(content, true);
  const left = x + 14 + width > innerWidth - 8 ? Math.max(8, x - width - 14) : x + 14;
  const top = Math.max(8, Math.min(y + 14, innerHeight - height - 8));
  styled(node, { left: `${left}px`, top: `${top}px` });
}

/**
 * Right under a part of the text, or over it where there is no room. The pointer may go into it. It is not read aloud: what it says
 * is the description of that part already.
 */
export function show_under(part: Element, ...content: Child[]): void {
  const { node, width, height } = filled(content, false);
  const line = part.getClientRects()[0] ?? part.getBoundingClientRect(); // of a part that is broken into two lines, the first
  const left = Math.max(8, Math.min(line.left, innerWidth - width - 8));
  const top = line.bottom + height > innerHeight - 8 ? line.top - height : line.bottom;
  styled(node, { left: `${left}px`, top: `${Math.max(8, top)}px` });
}

export function hide(): void {
  if (box) box.hidden = true;
}
