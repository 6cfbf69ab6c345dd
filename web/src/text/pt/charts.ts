import type { charts as en } from '../en/charts.ts'

export const charts: typeof en = {
  when: 'Quando',
  asTable: 'Mostrar como tabela',
  asChart: 'Mostrar como gráfico',
}
