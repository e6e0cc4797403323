// other.js: problems without a board to play on: queens, sudoku, unbalanced trees.
// SPDX-License-Identifier: MIT

const field = (label, input) => {
  const made = document.createElement('label');
  made.append(label, input);
  return made;
};
const select = (id, options) => {
  const made = Object.assign(document.createElement('select'), {id});
  for (const [value, text] of options) made.append(new Option(text, value));
  return made;
};
const number = (id, value, min, max) => Object.assign(document.createElement('input'), {id, type: 'number', value, min, max});
const line = (id, value) => Object.assign(document.createElement('input'), {id, type: 'text', value, spellcheck: false});

const hard = '8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..';

/** Each has fields, a request, and a drawing of the answer. */
const problems = {
  'queens': {
    title: 'Queens: one solution',
    about: 'Queens on a board, none attacking another: the first solution ends the search.',
    fields: () => [field('Size of the board', number('p-n', 12, 1, 32))],
    request: value => ({puzzle: 'queens', n: Number(value('p-n'))}),
    drawing: ({path}) => path.map(column => path.map((_, at) => at === column ? '♛' : '·').join(' ')).join('\n'),
  },
  'queens-count': {
    title: 'Queens: count all solutions',
    about: 'The whole tree of placements, by fork and join: no position is kept, so only time limits it.',
    fields: () => [field('Size of the board', number('p-n', 13, 1, 32))],
    request: value => ({puzzle: 'queens', n: Number(value('p-n')), count: true}),
    drawing: ({solutions}) => `${solutions.toLocaleString('en')} solutions`,
  },
  'sudoku': {
    title: 'Sudoku',
    about: 'Tries the cell with the fewest candidates first.',
    fields: () => [field('Grid, row by row; 0 or . is empty', line('p-grid', hard))],
    request: value => ({puzzle: 'sudoku', grid: value('p-grid')}),
    drawing: ({path}, value) => gridOf(value('p-grid'), path),
  },
  'sudoku-count': {
    title: 'Sudoku: count all full grids',
    about: 'Every way to fill an empty grid.',
    fields: () => [field('Boxes', select('p-box', [['2x2', '2 × 2 (grid of 4)'], ['2x3', '2 × 3 (grid of 6)']]))],
    request: value => ({puzzle: 'sudoku', box: value('p-box'), count: true}),
    drawing: ({solutions}) => `${solutions.toLocaleString('en')} grids`,
  },
  'uts': {
    title: 'Unbalanced tree search',
    about: 'A benchmark of load balancing: each node tells by its SHA-1 hash how many children it has, so nobody knows in advance where the work is.',
    fields: () => [field('Tree', select('p-tree', ['T1', 'T2', 'T3', 'T4', 'T5'].map(each => [each, each])))],
    request: value => ({puzzle: 'uts', tree: value('p-tree')}),
    drawing: ({nodes, leaves, depth}) =>
      `${nodes.toLocaleString('en')} nodes\n${leaves.toLocaleString('en')} leaves\ndepth ${depth.toLocaleString('en')}`,
  },
};

/** The grid of 9 x 9 after a path of "r1c3=7". */
function gridOf(start, path) {
  const cells = [...start.replace(/\s/g, '')];
  for (const fill of path) {
    const [, row, col, digit] = /^r(\d+)c(\d+)=(.)$/.exec(fill);
    cells[9 * (row - 1) + (col - 1)] = digit;
  }
  const lines = Array.from({length: 9}, (_, row) => cells.slice(9 * row, 9 * row + 9));
  return lines.map(line => line.join(' ').replace(/^(.{5}) (.{5}) /, '$1 │ $2 │ '))
    .map((line, row) => row === 3 || row === 6 ? `──────┼───────┼──────\n${line}` : line).join('\n');
}

/** Where there is no drawing. */
const plain = ({solved, path}) => solved ? path.join(' ').replace(/(.{1,70})( |$)/g, '$1\n').trim() : 'no solution';

const valueOf = id => document.getElementById(id).value;

export class OtherProblems {
  id = 'other';
  title = 'More';

  /** @param changed  called when another problem is chosen */
  constructor(parent, changed) {
    this.choice = select('problem', Object.entries(problems).map(([id, {title}]) => [id, title]));
    this.fields = Object.assign(document.createElement('div'), {className: 'fields'});
    this.output = Object.assign(document.createElement('pre'), {hidden: true});
    this.choice.addEventListener('change', () => { this.pick(); changed(); });
    this.fields.addEventListener('input', () => { this.asked = null; });
    this.about = Object.assign(document.createElement('p'), {className: 'soft'});
    parent.append(field('Problem', this.choice), this.about, this.fields, this.output);
    this.pick();
  }

  get problem() {
    return problems[this.choice.value];
  }

  pick() {
    this.asked = null;
    this.fields.replaceChildren(...this.problem.fields());
    this.about.textContent = this.problem.about;
    this.output.hidden = true;
  }

  solverNames = {racing: 'all threads', sequential: 'one thread'};
  solvers() {
    return Object.keys(this.solverNames);
  }

  request() {
    this.output.hidden = true;
    return this.asked ?? this.problem.request(valueOf);
  }

  show(answer) {
    this.output.textContent = this.asked && !this.fits ? plain(answer) : this.problem.drawing(answer, valueOf);
    this.output.hidden = false;
  }

  /** Shows a question from before. It is asked again as it was, until a field is changed, for there are more of them than the
   *  fields can say. */
  fromRequest(asked) {
    this.choice.value = asked.puzzle + (asked.count && asked.puzzle !== 'uts' ? '-count' : '');
    this.pick();
    for (const [key, id] of Object.entries({n: 'p-n', grid: 'p-grid', box: 'p-box', tree: 'p-tree'})) {
      const input = document.getElementById(id);
      if (input && key in asked) input.value = asked[key];
    }
    this.asked = asked;
    this.fits = !(asked.puzzle === 'sudoku' && !asked.count && asked.box !== '3x3');
  }
}
