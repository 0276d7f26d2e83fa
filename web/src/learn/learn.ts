import type { ReportData } from '../data';
import { h } from '../dom';
import type { View } from '../shell';
export function learn_view(data: ReportData): View {
  void data;
  return { id: 'learn', title: 'Learn', draw(place) { place.append(h('h1', null, 'Learn')); } };
}
