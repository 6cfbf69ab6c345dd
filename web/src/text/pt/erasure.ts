import type { erasure as en } from '../en/erasure.ts'

export const erasure: typeof en = {
  title: 'Apagar este cliente?',
  help: 'Os leads, conversas, mensagens, notas e histórico dele são apagados para sempre, aqui e no que espera sair por webhooks. Não há como desfazer. O que ele escrever depois começa do zero.',
  looking: 'Procurando os dados…',
  found: 'Será apagado:',
  nothing: 'Nada foi encontrado. Os arquivos guardados de importações são examinados mesmo assim.',
  word: 'APAGAR',
  action: 'Apagar para sempre',
  done: 'Apagado',
  goesOn: 'Há muito a apagar. Continua em segundo plano; o registro de auditoria diz quando terminar.',
  kinds: {
    leads: (n) => (n === 1 ? '1 lead' : `${n} leads`),
    conversations: (n) => (n === 1 ? '1 conversa' : `${n} conversas`),
    messages: (n) => (n === 1 ? '1 mensagem' : `${n} mensagens`),
    files: (n) => (n === 1 ? '1 arquivo em mensagens' : `${n} arquivos em mensagens`),
    notes: (n) => (n === 1 ? '1 nota' : `${n} notas`),
    events: (n) => (n === 1 ? '1 evento' : `${n} eventos`),
    importFiles: (n) => (n === 1 ? '1 arquivo de uma importação' : `${n} arquivos de importações`),
  },
}
