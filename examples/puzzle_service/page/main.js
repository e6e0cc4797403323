// main.js: what the controls of the page do.
// SPDX-License-Identifier: MIT
import {BoardView} from './board_view.js';
import {short} from './charts.js';
import {Monitor} from './monitor.js';
import {OtherProblems} from './other.js';
import {Player} from './player.js';
import {puzzles, solverNames} from './puzzles.js';
import {solve} from './solve.js';
import {SolvedList, ago, duration} from './solved.js';
import {TasksView} from './tasks.js';

const $ = id => document.getElementById(id);
const view = new BoardView($('board'), changed);
const player = new Player(view);
const other = new OtherProblems($('other'), fillSolvers);
const kinds = [...puzzles, other];
const boards = new Map();  // what each puzzle showed last
let puzzle = null;
let running = null;  // the AbortController of a search
let ended = Promise.resolve();  // the end of the last search

function say(text, detail = '') {
  $('anew').hidden = true;
  $('status').textContent = text;
  $('detail').textContent = detail;
}

function complain(text) {
  $('error').textContent = text;
  $('error').hidden = !text;
  if (text) $('error').scrollIntoView({block: 'nearest'});
}

const countOf = (all, word) => `${all.length} ${word}${all.length === 1 ? '' : 's'}`;

const bytes = count => count >= 1 << 20 ? `${(count / (1 << 20)).toFixed(count < 10 << 20 ? 1 : 0)} MiB` : `${Math.round(count / 1024)} KiB`;

function showNumbers({nodes, rate, depth, memory, ms} = {}) {
  $('n-nodes').textContent = nodes === undefined ? '–' : short(nodes, 4);
  $('n-rate').textContent = rate === undefined ? '–' : short(rate);
  $('n-depth').textContent = depth ? depth.toLocaleString('en') : '–';
  $('n-memory').textContent = memory ? bytes(memory) : '–';
  $('n-time').textContent = ms === undefined ? '–' : duration(ms);
}

function showHint() {
  const isEdited = view.editing && puzzle !== other;
  $('hint').textContent = isEdited ? 'Put pieces anywhere: drop one on another of its shape to exchange them.' : puzzle.hint ?? '';
}

/** A piece was moved by hand. */
function changed() {
  player.clear();
  complain('');
  showNumbers();
  say(puzzle.isSolved(view.board) ? 'Solved by hand.' : '');
  $('text').value = puzzle.text(view.board);
}

function showBoard(board) {
  player.clear();
  boards.set(puzzle, board);
  view.show(puzzle, board);
  $('text').value = puzzle.text(board);
  fillSolvers();
}

function fillSolvers() {
  const names = puzzle.solvers(view.board);
  $('solver').replaceChildren(...names.map(name => new Option((puzzle.solverNames ?? solverNames)[name], name)));
  if (names.includes(puzzle.solver)) $('solver').value = puzzle.solver;
}

function choosePuzzle(kind) {
  if (running) running.abort();
  puzzle = kind;
  for (const tab of $('tabs').children) {
    const isChosen = tab.dataset.id === kind.id;
    tab.setAttribute('aria-selected', isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
  }
  const hasBoard = kind !== other;
  for (const id of ['tools', 'board', 'text-panel']) $(id).hidden = !hasBoard;
  $('other').hidden = hasBoard;
  showHint();
  $('goal-label').hidden = !kind.hasGoal;
  $('metric-label').hidden = !kind.metrics;
  if (kind.metrics) $('metric').value = kind.metrics[0];
  complain('');
  say('');
  showNumbers();
  player.clear();
  if (!hasBoard) return fillSolvers();
  $('text-help').textContent = kind.help;
  $('preset').replaceChildren(...kind.presets.map(({name}, index) => new Option(name, index)));
  if (kind.preset) $('preset').value = kind.preset;
  if (kind.hasGoal) $('goal').value = kind.blank;
  showBoard(boards.get(kind) ?? kind.fromPreset(kind.presets[0]));
}

function setBusy(on) {
  document.body.dataset.state = on ? 'searching' : 'done';
  const hadFocus = document.activeElement === $(on ? 'solve' : 'cancel');
  for (const id of ['shuffle', 'edit', 'preset', 'goal', 'set', 'solve']) $(id).disabled = on;
  $('cancel').disabled = !on;
  view.locked = on;
  if (hadFocus) $(on ? 'cancel' : 'solve').focus();
}

function requestOf(board) {
  const request = {...puzzle.request(board), solver: $('solver').value};
  if (puzzle.metrics && $('metric').value !== puzzle.metrics[0]) request.metric = $('metric').value;
  if ($('threads').value !== '0') request.threads = Number($('threads').value);
  return request;
}

function describe(answer) {
  const unit = answer.moves === 1 ? 'move' : 'moves';
  const measure = puzzle.metrics && $('metric').value === 'steps' ? unit.replace('move', 'step') : unit;
  if (answer.outcome.endsWith('_limit')) return 'A limit was reached before there was an answer.';
  if (!answer.solved) return 'There is no solution.';
  return answer.moves === null ? 'Done.' : `Solved in ${answer.moves.toLocaleString('en')} ${measure}.`;
}

/** The moves of an answer as unit steps; each is played on a copy, which shows that it is right. */
function movesOf(answer) {
  const copy = view.board.clone();
  const moves = answer.path.map(element => {
    const steps = puzzle.steps(element, copy);
    for (const [id, way] of steps) {
      const piece = copy.piece(id);
      if (!piece || !copy.canMove(piece, way)) throw new Error(`The answer is wrong: ${element} is impossible.`);
      copy.move(piece, way);
    }
    return steps;
  });
  if (!puzzle.isSolved(copy)) throw new Error('The answer is wrong: it leads to no goal.');
  return moves;
}

/** Shows an answer to what is on the board. */
function present(answer, seen = {}) {
  const ms = Math.max(answer.milliseconds, 0.001);
  showNumbers({...seen, nodes: answer.nodes, depth: answer.depth ?? answer.moves ?? seen.depth, rate: 1000 * answer.nodes / ms, ms: answer.milliseconds});
  const how = answer.kept ? `known: searched ${ago(answer.solved_at)} in ${duration(answer.milliseconds)}`
    : `searched by ${countOf(answer.worker_threads, 'worker thread')}`;
  say(describe(answer), `${answer.nodes.toLocaleString('en')} positions, ${how}`);
  $('anew').hidden = !answer.kept;
  if (puzzle === other) return other.show(answer);
  if (answer.solved) player.load(movesOf(answer));
}

/** Shows a question from before, and its answer, as if it had just been asked. */
async function openKept({request, answer, solved_at}) {
  running?.abort();
  await ended;
  const kind = {sliding: puzzles[0], klotski: puzzles[1], 'rush-hour': puzzles[2]}[request.puzzle] ?? other;
  if (kind !== puzzle) {
    choosePuzzle(kind);
    history.replaceState(null, '', `#${kind.id}`);
  }
  complain('');
  const board = kind.fromRequest(request);
  if (kind.hasGoal) {
    if (kind.blank === 'own' && ![...$('goal').options].some(each => each.value === 'own')) $('goal').append(new Option('own', 'own'));
    $('goal').value = kind.blank;
  }
  if (board) showBoard(board);
  else fillSolvers();
  if (![...$('solver').options].some(each => each.value === request.solver)) {
    $('solver').append(new Option(solverNames[request.solver] ?? request.solver, request.solver));
  }
  $('solver').value = request.solver;
  if (kind.metrics) $('metric').value = request.metric;
  present({...answer, kept: true, solved_at});
  document.body.dataset.state = 'done';
  $('play').scrollIntoView({block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'});
}

function search(isFresh) {
  ended = searchNow(isFresh);
  return ended;
}

async function searchNow(isFresh) {
  const chosen = puzzle;
  const own = running = new AbortController();
  complain('');
  showNumbers();
  player.clear();
  setBusy(true);
  say('Searching …');
  let seen = {};
  try {
    const answer = await solve(requestOf(view.board), own.signal, progress => {
      seen = {nodes: progress.nodes, rate: progress.nodes_per_second, depth: progress.depth,
              memory: progress.memory_bytes, ms: progress.elapsed_ms};
      showNumbers(seen);
    }, isFresh);
    if (puzzle !== chosen) return;
    if (!answer) return say('Cancelled.');
    present(answer, seen);
  } catch (error) {
    if (puzzle !== chosen) return;
    say('');
    complain(error.message);
  } finally {
    if (running === own) {
      running = null;
      setBusy(false);
    }
  }
}

/** Whether the service would take the board; it is asked for one position only. */
async function setText() {
  complain('');
  try {
    const board = puzzle.parse($('text').value, view.board);
    const signal = new AbortController().signal;
    await solve({...puzzle.request(board), solver: 'sequential', node_limit: 1}, signal, () => {});
    showBoard(board);
    say('A board of your own.');
  } catch (error) {
    say('');
    complain(error.message);
  }
}

for (const kind of kinds) {
  const tab = Object.assign(document.createElement('button'), {textContent: kind.title});
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', 'play');
  tab.dataset.id = kind.id;
  tab.addEventListener('click', () => { location.hash = kind.id; });
  $('tabs').append(tab);
}
$('tabs').addEventListener('keydown', event => {
  const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (!step) return;
  const tabs = [...$('tabs').children];
  const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
  next.focus();
  next.click();
});
const follow = () => choosePuzzle(kinds.find(({id}) => `#${id}` === location.hash) ?? kinds[0]);
addEventListener('hashchange', follow);
$('preset').addEventListener('change', () => {
  puzzle.preset = $('preset').value;
  showBoard(puzzle.fromPreset(puzzle.presets[puzzle.preset]));
  if (puzzle.hasGoal) $('goal').value = puzzle.blank;
  complain('');
  say('');
  showNumbers();
});
$('goal').addEventListener('change', () => {
  puzzle.blank = $('goal').value;
  showBoard(puzzle.shuffled(view.board));
});
$('shuffle').addEventListener('click', () => {
  showBoard(puzzle.shuffled(view.board));
  complain('');
  showNumbers();
  say('Shuffled.');
});
$('edit').addEventListener('click', () => {
  view.setEditing(!view.editing);
  $('edit').setAttribute('aria-pressed', view.editing);
  showHint();
});
$('solver').addEventListener('change', () => { puzzle.solver = $('solver').value; });
$('set').addEventListener('click', setText);
$('solve').addEventListener('click', () => search(false));
$('anew').addEventListener('click', () => {
  player.goTo(0);  // the question was where the solution begins
  search(true);
});
$('cancel').addEventListener('click', () => running?.abort());

const solved = new SolvedList(openKept, complain);
new Monitor($('charts'), $('link'), size => {
  const before = $('threads').value;
  $('threads').replaceChildren(new Option(`all ${size}`, 0));
  for (let count = 1; count < size; ++count) $('threads').append(new Option(count, count));
  $('threads').value = [...$('threads').options].some(each => each.value === before) ? before : '0';
}, answers => solved.hear(answers));
new TasksView($('tasks'));
follow();
document.body.dataset.state = 'ready';
