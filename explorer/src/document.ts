// The document that a page holds: what its parts are called, and how it is unpacked.

export interface ValueInfo {
  name: string;
  type: string;
  path?: string;
  constant?: string;
  depends?: number;
  varying?: boolean;
}

export interface Argument {
  role: "input" | "state" | "iteration" | "condition" | "carried" | "slice" | "captured";
  operand?: number;
}

export interface Result {
  role: "output" | "condition" | "carried" | "last" | "collected";
  value: number;
  to: string;
}

export interface NodeInfo {
  op: string;
  name?: string;
  inputs: number[];
  outputs: number[];
  attributes?: string[];
  bodies?: number[];
  /** The number of its cost. */
  cost?: number;
}

export interface Body {
  path: string;
  kind: "main" | "loop" | "branch";
  name: string;
  values: ValueInfo[];
  arguments: Argument[];
  results: Result[];
  nodes: NodeInfo[];
  around?: number;
  node?: number;
  trip?: string;
  condition?: string;
}

/** The kind of its elements, where it begins, and how many there are. */
export type Reference = [string, number, number];
export type Marks = [Reference, Reference];

export interface AxisInfo {
  loops: string[];
  rows: Reference;
  total: number;
  codes?: Reference;
}

export interface Recorded {
  axis?: number;
  ticks?: Reference;
  records: number;
  dtype: string;
  shapes: string[];
  shape?: Reference;
  sizes?: Reference;
  texts?: string[];
  elements?: number;
  columns?: number;
  cells?: Reference;
  stats?: Reference;
  nan?: Marks;
  inf?: Marks;
}

export interface Numbers {
  axis?: number;
  ticks?: Reference;
  numbers: Reference;
}

export interface TraceInfo {
  name: string;
  axes: AxisInfo[];
  values: Record<string, Recorded>;
  trips: Record<string, Numbers>;
  branches: Record<string, Numbers>;
}

/** Where a value of two traces first differs. */
export interface Difference {
  iterations: number[];
  text: string;
}

export interface Differences {
  values: Record<string, Difference>;
  first: string | null;
  trips: string[];
}

/** How a node ran in one run, and what it took in how many executions, where clocks can tell. */
export interface Cost {
  title: string;
  how: string;
  advice?: string;
  depth?: number;
  /** Of the run. */
  share?: number;
  seconds?: number;
  times?: number;
  iterations?: number;
}

export interface Content {
  title: string;
  bodies: Body[];
  traces?: TraceInfo[];
  differences?: Differences;
  costs?: Cost[];
}

export type Column = Float32Array | Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

const ARRAYS: Record<string, new (buffer: ArrayBuffer) => Column> = {
  f4: Float32Array,
  f8: Float64Array,
  i4: Int32Array,
  u4: Uint32Array,
  u2: Uint16Array,
  u1: Uint8Array,
};

/** The document and the arrays that it refers to. */
export class Packed {
  readonly content: Content;
  private readonly begin: number;
  private readonly arrays = new Map<number, Column>();

  constructor(private readonly bytes: Uint8Array) {
    const length = new DataView(bytes.buffer).getUint32(0, true);
    this.begin = 4 + length;
    this.content = JSON.parse(new TextDecoder().decode(bytes.subarray(4, this.begin)));
  }

  /** An array, whose bytes are stored in planes: the first bytes of all elements, then the second ones. */
  array([kind, offset, count]: Reference): Column {
    const known = this.arrays.get(offset);
    if (known !== undefined && known.length === count) return known;
    const width = Number(kind[1]);
    const plain = new Uint8Array(width * count);
    for (let plane = 0; plane < width; plane++) {
      const from = this.begin + offset + plane * count;
      for (let k = 0; k < count; k++) plain[k * width + plane] = this.bytes[from + k];
    }
    const array = new ARRAYS[kind](plain.buffer);
    this.arrays.set(offset, array);
    return array;
  }
}

export async function unpack(text: string): Promise<Packed> {
  const binary = atob(text.trim());
  const packed = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k++) packed[k] = binary.charCodeAt(k);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Packed(new Uint8Array(await new Response(stream).arrayBuffer()));
}
