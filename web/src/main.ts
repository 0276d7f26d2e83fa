// Reads the data, prepares it, and hands the views to the frame.
import type { ReportData } from './data';
import { count_of } from './numbers';
import * as labs from './labs';
import * as shell from './shell';
import * as state from './state';
import { claims_view } from './views/claims';
import { grid_view } from './views/grid';
import { layers_view } from './views/layers';
import { learn_view } from './learn/learn';
import { maps_view } from './views/maps';
import { overview } from './views/overview';
import { preflight_view } from './views/preflight';
import { xray_view } from './views/xray';

function read(): ReportData {
  const text = document.getElementById('data')?.textContent ?? '';
  return JSON.parse(text) as ReportData;
}

function about(data: ReportData): string {
  const runs = labs.all().reduce((n, t) => n + t.lab.runs.length, 0);
  const parts = [
    runs ? count_of(runs, 'run') : '',
    data.preflights?.length ? count_of(data.preflights.length, 'preflight') : '',
    data.xrays?.length ? count_of(data.xrays.length, 'x-ray') : '',
    data.made ? data.made.slice(0, 10) : '',
    `version ${data.version ?? '?'}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

const root = document.getElementById('page');
if (root) {
  const data = read();
  labs.prepare(data);
  state.start();
  shell.run(
    root,
    [
      overview(),
      maps_view(),
      xray_view(data),
      layers_view(data),
      grid_view(),
      claims_view(data),
      preflight_view(data),
      learn_view(data),
    ],
    about(data),
  );
  document.documentElement.dataset.ready = 'yes';
}
