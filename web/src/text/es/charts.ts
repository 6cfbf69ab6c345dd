import type { charts as en } from '../en/charts.ts'

export const charts: typeof en = {
  when: 'Cuándo',
  asTable: 'Ver como tabla',
  asChart: 'Ver como gráfico',
}
