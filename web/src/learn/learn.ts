// The Learn tab: one idea at a time, in an order that builds up.
import type { ReportData } from '../data';
import { h } from '../dom';
import type { View } from '../shell';
import * as state from '../state';
import { add_norm } from './add_norm';
import { batch_norm } from './batch_norm';
import { corrections } from './corrections';
import { degradation } from './degradation';
import { final_norm } from './final_norm';
import { glossary } from './glossary';
import { identity } from './identity';
import { layer_norm_topic } from './layer_norm';
import { pre_post } from './pre_post';
import { questions } from './questions';
import { skip } from './skip';
import type { Topic } from './topic';
import { warm_up } from './warm_up';

export const kTopics: Topic[] = [
  skip,
  identity,
  degradation,
  layer_norm_topic,
  batch_norm,
  add_norm,
  pre_post,
  final_norm,
  warm_up,
  questions,
  corrections,
  glossary,
];

function to(topic: Topic, text: string, extra: Record<string, string> = {}): HTMLElement {
  return h(
    'a',
    {
      href: state.link({ view: 'learn', topic: topic.id }),
      ...extra,
      onclick: (event: MouseEvent) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        state.set({ view: 'learn', topic: topic.id });
        document.querySelector<HTMLElement>('.topic h1')?.scrollIntoView({ block: 'center' });
      },
    },
    text,
  );
}

export function learn_view(data: ReportData): View {
  return {
    id: 'learn',
    title: 'Learn',
    watches: ['topic'],
    draw(place) {
      const at = Math.max(
        0,
        kTopics.findIndex((t) => t.id === state.get('topic')),
      );
      const topic = kTopics[at];
      const article = h('article', { class: 'topic' }, h('h1', null, topic.title));
      place.append(
        h(
          'div',
          { class: 'learn' },
          h(
            'nav',
            { class: 'topics', 'aria-label': 'Topics' },
            h(
              'ol',
              null,
              kTopics.map((t, i) => h('li', null, to(t, t.title, i === at ? { 'aria-current': 'page' } : {}))),
            ),
          ),
          article,
        ),
      );
      topic.draw(article, data);
      article.append(
        h(
          'p',
          { class: 'onward' },
          at > 0 ? to(kTopics[at - 1], `← ${kTopics[at - 1].title}`) : h('span'),
          at + 1 < kTopics.length ? to(kTopics[at + 1], `${kTopics[at + 1].title} →`) : h('span'),
        ),
      );
    },
  };
}
