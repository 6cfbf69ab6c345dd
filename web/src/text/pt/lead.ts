import type { lead as en } from '../en/lead.ts'

export const lead: typeof en = {
  statuses: {
    new: 'Novo',
    contacted: 'Contatado',
    qualified: 'Qualificado',
    proposal: 'Proposta',
    won: 'Ganho',
    lost: 'Perdido',
    unqualified: 'Desqualificado',
  },
  priorities: { low: 'Baixa', medium: 'Média', high: 'Alta', urgent: 'Urgente' },
  sources: {
    website: 'Site',
    chat_app: 'Chat',
    phone: 'Ligação',
    email: 'E-mail',
    referral: 'Indicação',
    social: 'Redes sociais',
    ads: 'Anúncios',
    event: 'Evento',
    other: 'Outra',
  },
  readAs: (amount) => `Lido como ${amount}`,
  notAnAmount: 'Escreva um valor, como 1500 ou 1.500,50',
}
