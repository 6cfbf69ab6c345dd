import type { attach as en } from '../../en/inbox/attach.ts'

export const attach: typeof en = {
  choose: 'Anexar arquivos',
  notKnown: 'Consultando o que pode ser enviado aqui',
  caption: 'Adicionar legenda',
  captionOf: (name) => `Legenda de ${name}`,
  pasted: 'Imagem colada',
  record: 'Gravar uma mensagem de voz',
  reply: 'Responder a esta mensagem',
  react: 'Reagir a esta mensagem',
}
