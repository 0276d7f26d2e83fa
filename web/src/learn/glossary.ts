// The glossary as a list that can be searched.
import { clear, h } from '../dom';
import { kWords } from '../words';
import { say, type Topic } from './topic';

export const glossary: Topic = {
  id: 'glossary',
  title: 'Glossary',
  draw(place) {
    const list = h('dl', { class: 'glossary' });
    const fill = (word: string): void => {
      clear(list);
      for (const [term, meaning] of kWords)
        if (!word || `${term} ${meaning}`.toLowerCase().includes(word))
          list.append(h('div', null, h('dt', null, term), h('dd', null, meaning)));
    };
    const find = h('input', {
      type: 'search',
      placeholder: 'find a word',
      'aria-label': 'Find a word of the glossary',
      oninput: () => fill(find.value.trim().toLowerCase()),
    }) as HTMLInputElement;
    place.append(...say('What the words of this page mean.'), h('div', { class: 'controls' }, find), list);
    fill('');
  },
};
