// The questions of the texts, to be ticked: the reader chooses, checks, and then sees what was measured. Paper has all answers.
import type { ReportData } from '../data';
import { clear, h } from '../dom';
import * as state from '../state';
import { kQuestions, type Question } from './question_list';
import { evidence, say, type Topic } from './topic';

const kOpen = '-';

/** What the reader chose, by question; undefined: not answered yet. Kept in the address: one digit per question. */
function answers(): (number | undefined)[] {
  const kept = state.get('answers');
  return kQuestions.map((question, i) => {
    const choice = /^\d$/.test(kept[i] ?? '') ? Number(kept[i]) : -1;
    return choice >= 0 && choice < question.options.length ? choice : undefined;
  });
}

function keep(all: (number | undefined)[]): void {
  const some = all.some((choice) => choice !== undefined);
  state.set({ answers: some ? all.map((choice) => choice ?? kOpen).join('') : '' }, true);
}

function score(): string {
  const all = answers();
  const done = all.filter((choice) => choice !== undefined).length,
    right = all.filter((choice, i) => choice === kQuestions[i].right).length;
  return done
    ? `${right} right of ${done} answered; ${kQuestions.length} questions.`
    : `${kQuestions.length} questions, none answered yet.`;
}

/** The right answer, and what decides; `hidden` until the reader has chosen. */
function outcome_of(question: Question, data: ReportData): HTMLElement {
  return h(
    'div',
    { class: 'outcome', tabindex: '-1', hidden: true },
    h('p', { class: 'summary' }),
    h('p', { class: 'on-paper' }, h('b', null, 'Answer: '), question.options[question.right], '.'),
    h('p', { class: 'the-answer' }, question.answer),
    question.wrong
      ? h('p', { class: 'wrong' }, h('span', { class: 'badge warn' }, 'not as printed'), ' ', question.wrong)
      : null,
    evidence(data, ...question.claims),
  );
}

function item(question: Question, number: number, data: ReportData, changed: () => void): HTMLElement {
  const name = `question-${number}`;
  const outcome = outcome_of(question, data);
  let chosen: number | undefined;
  const choices = question.options.map((text, i) => {
    const input = h('input', {
      type: 'radio',
      name,
      value: i,
      onchange: () => {
        chosen = i;
        check.disabled = false;
      },
    }) as HTMLInputElement;
    return { input, label: h('label', { class: 'guess' }, input, h('span', null, text)) };
  });
  const check = h('button', { type: 'button', class: 'reveal', disabled: true, onclick: () => answer() }, 'Check');
  const box = h(
    'section',
    { class: 'question', 'aria-labelledby': name },
    h('p', { class: 'ask', id: name }, h('span', { class: 'claim-id' }, `${number}.`), ' ', question.ask),
    h(
      'div',
      { class: 'guesses', role: 'radiogroup', 'aria-labelledby': name },
      choices.map((c) => c.label),
    ),
    check,
    outcome,
  );
  const show = (choice: number): void => {
    const right = choice === question.right;
    box.classList.add('answered', right ? 'good' : 'bad');
    choices.forEach(({ input, label }, i) => {
      input.checked = i === choice;
      input.disabled = true;
      if (i === question.right) label.append(h('b', { class: 'mark good' }, '✓ right'));
      else if (i === choice) label.append(h('b', { class: 'mark bad' }, '✕ your choice'));
    });
    outcome.querySelector('.summary')?.append(right ? 'Right.' : `Not so: you chose "${question.options[choice]}".`);
    outcome.hidden = false;
    check.hidden = true;
  };
  const answer = (): void => {
    if (chosen === undefined) return;
    keep(answers().map((choice, i) => (i === number - 1 ? chosen : choice)));
    show(chosen);
    changed();
    outcome.focus(); // the button that had it is gone
  };
  const before = answers()[number - 1];
  if (before !== undefined) show(before);
  return box;
}

export const questions: Topic = {
  id: 'questions',
  title: 'Thirteen questions',
  draw(place, data) {
    const progress = h('span', { role: 'status' });
    const again = h(
      'button',
      {
        type: 'button',
        onclick: () => {
          keep(kQuestions.map(() => undefined));
          fill();
          list.querySelector('input')?.focus();
        },
      },
      'Start again',
    );
    const list = h('div', { class: 'questions' });
    const show_progress = (): void => {
      progress.textContent = score();
      again.hidden = answers().every((choice) => choice === undefined);
    };
    const fill = (): void => {
      clear(list);
      list.append(...kQuestions.map((q, i) => item(q, i + 1, data, show_progress)));
      show_progress();
    };
    place.append(
      ...say(
        'The texts that this project began with end in questions: eight to tick, five to answer in words. Here all of them can be ticked. Choose an answer, then check it: what decides is a measurement.',
      ),
      list,
      h('p', { class: 'score' }, progress, ' ', again),
    );
    fill();
  },
};
