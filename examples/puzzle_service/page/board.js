// board.js: pieces on a grid, and how they slide.
// SPDX-License-Identifier: MIT

export const ways = {up: [-1, 0], left: [0, -1], right: [0, 1], down: [1, 0]};
export const opposite = {up: 'down', left: 'right', right: 'left', down: 'up'};

/** Rectangles that slide on a grid, one cell at a time: tiles, blocks and cars are the same to it.
 *  A piece is {id, row, col, height, width, axis}; an axis of 'row' or 'col' is the only one it
 *  moves along. */
export class Board {
  constructor(rows, cols, pieces, walls = []) {
    Object.assign(this, {rows, cols, pieces, walls});
  }

  clone() {
    return new Board(this.rows, this.cols, this.pieces.map(each => ({...each})), this.walls);
  }

  piece(id) {
    return this.pieces.find(each => each.id === id);
  }

  /** Who stands in the piece's way at that place: pieces, 'wall' or 'edge'. */
  obstacles(piece, row, col) {
    const {height, width} = piece;
    if (row < 0 || col < 0 || row + height > this.rows || col + width > this.cols) return ['edge'];
    const meets = other => other.row < row + height && row < other.row + (other.height ?? 1) &&
      other.col < col + width && col < other.col + (other.width ?? 1);
    const found = this.pieces.filter(other => other !== piece && meets(other));
    return this.walls.some(meets) ? [...found, 'wall'] : found;
  }

  canMove(piece, way) {
    const [down, right] = ways[way];
    if (piece.axis === 'row' && down !== 0 || piece.axis === 'col' && right !== 0) return false;
    return this.obstacles(piece, piece.row + down, piece.col + right).length === 0;
  }

  move(piece, way) {
    piece.row += ways[way][0];
    piece.col += ways[way][1];
  }

  /** Puts a piece where it fits, or exchanges it with the one of its shape that lies there. */
  put(piece, row, col) {
    const found = this.obstacles(piece, row, col);
    if (found.length > 1 || found[0] === 'edge' || found[0] === 'wall') return false;
    const [other] = found;
    if (other) {
      const fits = other.height === piece.height && other.width === piece.width && other.row === row && other.col === col;
      if (!fits) return false;
      [other.row, other.col] = [piece.row, piece.col];
    }
    [piece.row, piece.col] = [row, col];
    return true;
  }

  legalMoves() {
    return this.pieces.flatMap(piece =>
      Object.keys(ways).filter(way => this.canMove(piece, way)).map(way => [piece, way]));
  }

  /** Random legal moves; none takes back the one before it unless there is no other. */
  shuffle(count) {
    let last = null;
    for (let i = 0; i < count; ++i) {
      const all = this.legalMoves();
      const onward = all.filter(([piece, way]) => !(last && piece === last[0] && way === opposite[last[1]]));
      const choice = onward.length > 0 ? onward : all;
      if (choice.length === 0) return;
      last = choice[Math.floor(Math.random() * choice.length)];
      this.move(...last);
    }
  }

  /** A letter per cell, '.' for empty ones, 'x' for walls. */
  letters() {
    const cells = Array.from({length: this.rows}, () => Array(this.cols).fill('.'));
    for (const {row, col} of this.walls) cells[row][col] = 'x';
    for (const {id, row, col, height, width} of this.pieces) {
      for (let r = row; r < row + height; ++r) cells[r].fill(id, col, col + width);
    }
    return cells.map(row => row.join(''));
  }
}

/** A board from a letter per cell. Throws if a letter is no rectangle. */
export function boardOfLetters(lines, {empty = '.', wall = '', axis = () => 'both'} = {}) {
  const found = new Map(), walls = [];
  lines.forEach((line, row) => [...line].forEach((id, col) => {
    if (empty.includes(id)) return;
    if (wall.includes(id)) return walls.push({row, col});
    const cells = found.get(id) ?? found.set(id, []).get(id);
    cells.push([row, col]);
  }));
  const pieces = [...found].map(([id, cells]) => {
    const [row, col] = cells[0], [lowest, rightmost] = cells.at(-1);
    const piece = {id, row, col, height: lowest - row + 1, width: rightmost - col + 1};
    const isWhole = cells.length === piece.height * piece.width &&
      cells.every(([r, c]) => r >= row && r <= lowest && c >= col && c <= rightmost);
    if (!isWhole) throw new Error(`The cells of ${id} are no rectangle.`);
    return {...piece, axis: axis(piece)};
  });
  return new Board(lines.length, lines[0].length, pieces, walls);
}
