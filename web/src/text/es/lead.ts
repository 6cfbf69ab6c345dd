import type { lead as en } from '../en/lead.ts'

export const lead: typeof en = {
  statuses: {
    new: 'Nuevo',
    contacted: 'Contactado',
    qualified: 'Calificado',
    proposal: 'Propuesta',
    won: 'Ganado',
    lost: 'Perdido',
    unqualified: 'Descartado',
  },
  priorities: { low: 'Baja', medium: 'Media', high: 'Alta', urgent: 'Urgente' },
  sources: {
    website: 'Sitio web',
    chat_app: 'Chat',
    phone: 'Llamada',
    email: 'Correo',
    referral: 'Recomendación',
    social: 'Redes sociales',
    ads: 'Anuncios',
    event: 'Evento',
    other: 'Otro',
  },
  readAs: (amount) => `Se lee ${amount}`,
  notAnAmount: 'Escribe un importe, como 1500 o 1.500,50',
}
