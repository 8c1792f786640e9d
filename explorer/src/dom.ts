// Elements without markup: texts of a model are only ever text.

type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;
type Child = Node | string | undefined | null;

function fill(node: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value as unknown as EventListener);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== undefined && value !== false) node.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== undefined && child !== null) node.append(child);
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(node, attributes, children);
  return node;
}

/** A colour of the style by its name. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A canvas of the size that it is shown in, sharp on every screen. */
export function context(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const drawing = canvas.getContext("2d")!;
  drawing.scale(ratio, ratio);
  drawing.clearRect(0, 0, width, height);
  return drawing;
}
