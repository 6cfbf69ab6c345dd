import type { views as en } from '../en/views.ts'

export const views: typeof en = {
  all: 'Todos',
  next: 'Vista siguiente',
  previous: 'Vista anterior',
  more: (n) => `${n} más`,
  menu: (name) => `Menú de la vista ${name}`,
  rename: 'Cambiar el nombre',
  share: 'Compartir con todos',
  unshare: 'Solo para mí',
  duplicate: 'Duplicar',
  moveLeft: 'Mover a la izquierda',
  moveRight: 'Mover a la derecha',
  delete: 'Eliminar',
  shared: 'Para todos',
  isOpen: 'Abierta',
  changed: 'Modificada',
  saveAs: 'Guardar como vista nueva',
  reset: 'Restablecer',
  nowShared: (name) => `${name} ahora es para todos`,
  nowOwn: (name) => `${name} ahora es solo tuya`,
  labels: {
    title: 'Etiquetas',
    add: 'Añadir etiqueta',
    remove: 'Quitar etiqueta',
    changed: (name: string) => `Cambiaron las etiquetas de ${name}`,
  },
}
