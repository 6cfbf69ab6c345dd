export const charts = {
  when: 'When',
  asTable: 'Show as a table',
  asChart: 'Show as a chart',
}
