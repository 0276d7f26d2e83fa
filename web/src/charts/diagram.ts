// A layer drawn from its row. The residual stream is the upright line in the middle, from the input at the bottom to the output at the
// top; branches leave it to the right, a second stream runs on the left. So a norm that stands on the stream is seen to stand there.
import { svg } from '../dom';
import { chart_root } from './root';
import type { Arrangement, DiagramEdge, DiagramNode } from '../results';

interface Placed {
  node: DiagramNode;
  column: number; // 0: the stream, 1, 2: branches, -1: the second stream
  rank: number; // from the bottom
}

interface Graph {
  nodes: DiagramNode[];
  edges: DiagramEdge[];
}

/** The nodes of the stream: along the skip where there is one, through the branch where there is none. */
function spine_of(graph: Graph): Set<string> {
  const out = new Set<string>();
  let at = graph.nodes.find((n) => n.kind === 'input')?.id;
  while (at && !out.has(at)) {
    out.add(at);
    const next: DiagramEdge[] = graph.edges.filter((e) => e.from === at && e.kind !== 'side');
    at = (next.find((e) => e.kind === 'skip') ?? next[0])?.to;
  }
  return out;
}

function place(graph: Graph): Map<string, Placed> {
  const spine = spine_of(graph);
  const out = new Map<string, Placed>();
  const branches = new Map<string, number>(); // how many branches leave a node already
  for (const node of graph.nodes) {
    const into = graph.edges.filter((e) => e.to === node.id);
    const rank = Math.max(-1, ...into.map((e) => out.get(e.from)?.rank ?? -1)) + 1;
    let column = 0;
    if (!spine.has(node.id)) {
      const from = into[0] ? out.get(into[0].from) : undefined;
      if (into.length && into.every((e) => e.kind === 'side')) column = -1;
      else if (into.length > 1)
        column = Math.max(1, Math.min(...into.map((e) => out.get(e.from)?.column ?? 1))); // branches that meet
      else {
        const before = branches.get(into[0]?.from ?? '') ?? 0;
        column = Math.max(1, from?.column ?? 1) + before;
        branches.set(into[0]?.from ?? '', before + 1);
      }
    }
    out.set(node.id, { node, column, rank });
  }
  return out;
}

export function diagram_of(entry: Arrangement | undefined): Graph | undefined {
  const graph = entry?.stacks?.[0]?.diagram;
  return graph?.nodes?.length ? graph : undefined;
}

export function draw_diagram(name: string, graph: Graph, width: number): SVGSVGElement {
  const placed = place(graph);
  const all = [...placed.values()];
  const ranks = Math.max(...all.map((p) => p.rank)) + 1;
  const columns = all.map((p) => p.column);
  const left = Math.min(0, ...columns),
    right = Math.max(1, ...columns);
  const row = 46,
    top = 22,
    height = ranks * row + 2 * top;
  const pitch = Math.min(150, (width - 30) / (right - left + 1));
  const middle = width / 2 - ((left + right) / 2) * pitch;
  const x = (p: Placed): number => middle + p.column * pitch;
  const y = (p: Placed): number => height - top - (p.rank + 0.5) * row;
  const half = (p: Placed): number => (p.node.kind === 'sum' ? 11 : 14);
  const wide = Math.min(112, pitch - 14);

  const root = chart_root(
    width,
    height,
    `Diagram of ${name}, from the input at the bottom to the output at the top: ${graph.nodes.map((n) => n.text).join(', ')}`,
    { class: 'chart diagram' },
  );

  // What repeats is framed.
  for (const part of [...new Set(graph.nodes.map((n) => n.part).filter(Boolean))]) {
    const inside = all.filter((p) => p.node.part === part);
    const low = Math.max(...inside.map(y)) + 22,
      high = Math.min(...inside.map(y)) - 22;
    const edge = Math.max(4, middle + left * pitch - wide / 2 - 12);
    root.append(
      svg('rect', {
        class: 'part',
        x: edge,
        y: high,
        rx: 10,
        width: Math.min(width - 4, middle + right * pitch + wide / 2 + 12) - edge,
        height: low - high,
      }),
      svg(
        'text',
        {
          class: 'part-text',
          x: Math.min(width - 4, middle + right * pitch + wide / 2 + 12) - 6,
          y: high + 13,
          'text-anchor': 'end',
        },
        part,
      ),
    );
  }

  for (const edge of graph.edges) {
    const a = placed.get(edge.from),
      b = placed.get(edge.to);
    if (!a || !b) continue;
    const x1 = x(a),
      y1 = y(a) - half(a),
      x2 = x(b),
      y2 = y(b) + half(b);
    const on_stream = a.column === 0 && b.column === 0;
    let d = `M${x1},${y1}V${y2}`;
    if (edge.kind === 'side' && b.column < 0)
      d = a.column > 0 ? `M${x1},${y1}V${y(b) + 20}H${x2}V${y2}` : `M${x1},${y1 - 7}H${x2}V${y2}`;
    else if (a.column !== b.column && b.node.kind === 'sum')
      d = `M${x1},${y1}V${y(b)}H${x2 + Math.sign(x1 - x2) * (half(b) + (on_stream ? 0 : 2))}`;
    else if (a.column !== b.column) d = `M${x1},${(y1 + y2) / 2 + 4}H${x2}V${y2}`;
    root.appendChild(svg('path', { class: `edge ${on_stream ? 'stream' : edge.kind}`, d }));
  }
  for (const p of all) {
    const { kind, text } = p.node;
    if (kind === 'sum')
      root.append(
        svg('circle', { class: 'node sum', cx: x(p), cy: y(p), r: 11 }),
        svg('text', { class: 'node-text', x: x(p), y: y(p), dy: '0.35em', 'text-anchor': 'middle' }, '+'),
      );
    else if (kind === 'input' || kind === 'output')
      root.append(
        svg('rect', { class: 'node end', x: x(p) - 24, y: y(p) - 13, width: 48, height: 26, rx: 13 }),
        svg('text', { class: 'node-text', x: x(p), y: y(p), dy: '0.35em', 'text-anchor': 'middle' }, text),
      );
    else
      root.append(
        svg('rect', {
          class: `node ${kind}`,
          x: x(p) - wide / 2,
          y: y(p) - 14,
          width: wide,
          height: 28,
          rx: kind === 'branch' ? 4 : 9,
        }),
        svg('text', { class: 'node-text', x: x(p), y: y(p), dy: '0.35em', 'text-anchor': 'middle' }, text),
      );
  }
  return root;
}
