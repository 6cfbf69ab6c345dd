import type { views as en } from '../en/views.ts'

export const views: typeof en = {
  all: 'Todos',
  next: 'Próxima visão',
  previous: 'Visão anterior',
  more: (n) => `mais ${n}`,
  menu: (name) => `Menu da visão ${name}`,
  rename: 'Renomear',
  share: 'Compartilhar com todos',
  unshare: 'Só para mim',
  duplicate: 'Duplicar',
  moveLeft: 'Mover para a esquerda',
  moveRight: 'Mover para a direita',
  delete: 'Excluir',
  shared: 'Para todos',
  isOpen: 'Aberta',
  changed: 'Alterada',
  saveAs: 'Salvar como nova visão',
  reset: 'Redefinir',
  nowShared: (name) => `${name} agora é de todos`,
  nowOwn: (name) => `${name} agora é só sua`,
  labels: {
    title: 'Etiquetas',
    add: 'Adicionar etiqueta',
    remove: 'Remover etiqueta',
    changed: (name: string) => `As etiquetas de ${name} mudaram`,
  },
}
