// puzzles.js: the three puzzles with a board: their texts, requests, presets and goals.
// SPDX-License-Identifier: MIT
import {Board, boardOfLetters, ways} from './board.js';

export const solverNames = {
  breadth_first: 'breadth first (shortest)',
  bidirectional: 'bidirectional (shortest)',
  iterative_deepening: 'iterative deepening (shortest)',
  best_first: 'best first, A* (shortest)',
  racing: 'racing (first found)',
  sequential: 'sequential, one thread (first found)',
};

const rowsOf = text => text.trim().split(/[\s/]+/);

class Tiles {
  id = 'tiles';
  title = 'Tiles';
  help = 'The tiles row by row, 0 is the blank.';
  hint = 'Tap, drag, or use the arrow keys. The goal is to have them in order.';
  hasGoal = true;
  presets = [
    {name: '3 × 3 shuffled', rows: 3, cols: 3, shuffled: 200},
    {name: '3 × 3 farthest (31 moves)', rows: 3, cols: 3, start: '8 6 7 2 5 4 3 0 1'},
    {name: '3 × 4 shuffled', rows: 3, cols: 4, shuffled: 90},
    {name: '4 × 4 shuffled', rows: 4, cols: 4, shuffled: 90},
    {name: '4 × 4 Korf 55 (41 moves)', rows: 4, cols: 4, goal: 'first', start: '13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11'},
    {name: '4 × 4 Korf 12 (45 moves)', rows: 4, cols: 4, goal: 'first', start: '14 1 9 6 4 8 12 5 7 2 3 0 10 11 13 15'},
  ];
  blank = 'last';  // or 'first', or 'own': that of an answer from before

  goal(board) {
    if (this.blank === 'own') return this.ownGoal;
    const tiles = Array.from({length: board.rows * board.cols}, (_, at) => at);
    return this.blank === 'last' ? [...tiles.slice(1), 0] : tiles;
  }

  fromRequest({rows, cols, start, goal}) {
    const board = this.parse(start.join(' '), {rows, cols});
    this.ownGoal = goal;
    this.blank = ['last', 'first'].find(each => { this.blank = each; return this.goal(board).join() === goal.join(); }) ?? 'own';
    return board;
  }
  fromPreset(preset) {
    this.blank = preset.goal ?? 'last';
    if (preset.start) return this.parse(preset.start, preset);
    return this.shuffled(new Board(preset.rows, preset.cols, []), preset.shuffled);
  }

  shuffled(board, count = 90) {
    const fresh = this.parse(this.goal(board).join(' '), board);
    fresh.shuffle(board.rows * board.cols === 9 ? 200 : count);
    return fresh;
  }

  parse(text, {rows, cols}) {
    const tiles = text.trim().split(/[\s,/]+/);
    if (tiles.length !== rows * cols || tiles.some(tile => !/^\d{1,3}$/.test(tile))) {
      throw new Error(`A board of ${rows} × ${cols} is ${rows * cols} numbers.`);
    }
    if (!tiles.some(tile => Number(tile) === 0)) throw new Error('There is no blank: one of the tiles has to be 0.');
    const pieces = tiles.flatMap((tile, at) => Number(tile) === 0 ? [] :
      [{id: String(Number(tile)), row: Math.floor(at / cols), col: at % cols, height: 1, width: 1, axis: 'both'}]);
    return new Board(rows, cols, pieces);
  }

  cells(board) {
    const cells = Array(board.rows * board.cols).fill(0);
    for (const {id, row, col} of board.pieces) cells[row * board.cols + col] = Number(id);
    return cells;
  }

  text(board) {
    const cells = this.cells(board).map(tile => String(tile).padStart(board.pieces.length > 8 ? 2 : 1));
    return Array.from({length: board.rows}, (_, row) => cells.slice(row * board.cols, (row + 1) * board.cols).join(' ')).join('\n');
  }

  request(board) {
    return {puzzle: 'sliding', rows: board.rows, cols: board.cols, start: this.cells(board), goal: this.goal(board)};
  }

  solvers(board) {
    const guided = ['iterative_deepening', 'best_first'];  // the only ones that end in time on 15 tiles
    const isLarge = board.rows * board.cols > 9;
    return isLarge ? guided : ['breadth_first', 'bidirectional', ...guided, 'racing', 'sequential'];
  }

  isSolved(board) {
    return this.cells(board).join() === this.goal(board).join();
  }

  /** An element of a path as unit steps: [piece's id, way]. */
  steps(element, board) {
    const piece = board.piece(String(element));
    const way = piece && Object.keys(ways).find(each => board.canMove(piece, each));
    if (!way) throw new Error(`The answer is wrong: tile ${element} cannot move.`);
    return [[piece.id, way]];
  }

  look(piece, board) {
    const isHome = this.goal(board)[piece.row * board.cols + piece.col] === Number(piece.id);
    return {label: `tile ${piece.id}`, classes: isHome ? ['home'] : []};
  }
  boardClasses(board) {
    return board.rows * board.cols > 9 ? ['tiles', 'small'] : ['tiles'];
  }
}

/** What Klotski and Rush Hour have in common: a letter per piece, paths of "A right right". */
class Lettered {
  metrics = ['steps', 'moves'];

  fromPreset(preset) {
    return this.parse(preset.board);
  }
  fromRequest({board}) {
    return this.parse(board);
  }
  shuffled(board) {
    const fresh = board.clone();
    fresh.shuffle(60 + Math.floor(Math.random() * 200));
    return fresh;
  }
  text(board) {
    return board.letters().join('\n');
  }
  solvers() {
    return ['breadth_first', 'bidirectional', 'best_first', 'iterative_deepening', 'racing', 'sequential'];
  }
  steps(element) {
    const [id, ...path] = element.split(' ');
    return path.map(way => [id, way]);
  }
}

class Klotski extends Lettered {
  id = 'klotski';
  title = 'Klotski';
  help = 'Five rows of four; a letter for each piece, a dot where it is empty.';
  hint = 'Bring the large block to the bottom centre. Drag a piece, or use the arrow keys.';
  presets = [
    {name: 'Heng Dao Li Ma (116 steps)', board: 'ABBC/ABBC/DEEF/DGHF/I..J'},
    {name: 'Three bars (137 steps)', board: 'ABBC/ABBC/DDEE/FFGH/I..J'},
    {name: 'Four bars (48 steps)', board: 'ABBC/DBBE/FFGG/HHII/J..K'},
    {name: 'Six small ones (42 steps)', board: 'ABBC/DBBE/FGGH/FIJH/K..L'},
  ];

  parse(text) {
    const lines = rowsOf(text);
    if (lines.length !== 5 || lines.some(line => line.length !== 4)) throw new Error('A Klotski board is five rows of four letters.');
    return boardOfLetters(lines);
  }
  request(board) {
    return {puzzle: 'klotski', board: board.letters().join('/')};
  }
  large(board) {
    return board.pieces.find(({height, width}) => height === 2 && width === 2);
  }
  isSolved(board) {
    const block = this.large(board);
    return block?.row === 3 && block.col === 1;
  }
  look({id, height, width}) {
    const shade = height * width === 4 ? '--red' : height > width ? '--blue' : width > height ? '--teal' : '--amber';
    return {label: `piece ${id}`, shade};
  }
  boardClasses() {
    return ['blocks'];
  }
  exit = {row: 3, col: 1, height: 2, width: 2, side: 'bottom'};
}

const carShades = ['--blue', '--teal', '--amber', '--violet', '--green', '--pink', '--brown'];

class RushHour extends Lettered {
  id = 'rush-hour';
  title = 'Rush Hour';
  help = 'Six rows of six; a letter for each car, A is the red one, o or a dot is empty, x a wall.';
  hint = 'Get the red car out on the right. Cars go along their own lane only.';
  metrics = ['moves', 'steps'];
  presets = [
    {name: 'Short (3 moves)', board: 'BBBoLo/CCooLM/IAAJoM/IooJoM/EEoKoo/oooKoo'},
    {name: 'Beginner (8 moves)', board: 'BB...C/D..E.C/DAAE.C/D..E../F...GG/F.HHH.'},
    {name: 'Expert (51 moves)', board: 'BCC.D./BEF.DG/BEFAAG/HHHI.G/..JIKK/LLJMM.'},
    {name: 'With walls (58 moves)', board: 'BBoKMx/DDDKMo/IAALoo/IoJLEE/ooJFFN/oGGoxN'},
  ];

  parse(text) {
    let lines = rowsOf(text);
    if (lines.length === 1) lines = lines[0].match(/.{1,6}/g) ?? [];
    if (lines.length !== 6 || lines.some(line => line.length !== 6)) throw new Error('A Rush Hour board is six rows of six letters.');
    return boardOfLetters(lines, {empty: '.o', wall: 'x', axis: ({height, width}) => height > width ? 'col' : 'row'});
  }
  request(board) {
    return {puzzle: 'rush-hour', board: board.letters().join('')};
  }
  isSolved(board) {
    const red = board.piece('A');
    return red?.row === 2 && red.col === 4;
  }
  look({id}) {
    const shade = id === 'A' ? '--red' : carShades[(id.charCodeAt(0) - 66) % carShades.length];
    return {label: id === 'A' ? 'the red car' : `car ${id}`, shade};
  }
  boardClasses() {
    return ['cars'];
  }
  exit = {row: 2, col: 5, height: 1, width: 1, side: 'right'};
}

export const puzzles = [new Tiles(), new Klotski(), new RushHour()];
