import type { home as en } from '../en/home.ts'

export const home: typeof en = {
  reference: 'Referência da API',
  span: 'Período',
  spans: { 7: '7 dias', 30: '30 dias', 90: '90 dias' },
  attention: {
    title: 'Precisa de atenção',
    nothing: 'Nada precisa da sua atenção agora.',
    nameless: 'sem nome',
    tones: { bad: 'Problema', attention: 'Atenção' },
    words: {
      agents_stopped: () => 'Todos os agentes estão parados. Pessoas respondem a todas as conversas.',
      connection_unavailable: (name) => `${name} não está conectado. Mensagens não são enviadas nem recebidas.`,
      quota_reached: (_, n) =>
        `O limite de leads de hoje foi atingido: ${n}. Novos são recusados até a meia-noite UTC.`,
      customers_waiting: (_, n) => (n === 1 ? 'Um cliente está esperando' : `${n} clientes estão esperando`),
      key_paused: (name) => `A chave de API ${name} estava se repetindo e foi pausada por um tempo.`,
      webhook_disabled: (name) => `O webhook ${name} foi desligado depois de falhas demais.`,
      webhook_failing: (name, n) => `O webhook ${name} falhou ${n} vezes seguidas.`,
      acknowledgement_missing: (name) => `Alguém precisa confirmar o risco de ${name}.`,
      key_expired: (name) => `A chave de API ${name} expirou.`,
      acknowledgement_ending: (name) => `A confirmação do risco de ${name} expira em breve.`,
      key_expiring: (name) => `A chave de API ${name} expira em breve.`,
      quota_near: (_, n) => `O limite de leads de hoje está quase atingido: ${n}.`,
    },
  },
  figures: {
    newLeads: 'Leads novos',
    inDays: (n) => `em ${n} dias`,
    today: 'Hoje',
    leads: 'leads novos',
    allLeads: 'Todos os leads',
    now: 'agora',
    waiting: 'Esperando',
    waitingFor: (minutes) => `há ${minutes} minutos ou mais`,
    people: 'Pessoas respondem em',
    agents: 'Agentes respondem em',
    median: 'mediana',
  },
  charts: {
    leadsPerDay: 'Leads por dia',
    bySource: 'Leads novos por origem',
    byStatus: 'Todos os leads por status',
    answerTimes: 'Tempo até a primeira resposta',
    people: 'Pessoas',
    agents: 'Agentes',
    otherApps: 'Outros aplicativos',
    noLeads: 'Nenhum lead ainda.',
    noAnswers: 'Ninguém foi respondido neste período.',
    slowest: (people, agents) =>
      [
        'A mediana de cada dia.',
        people === null ? '' : `Pessoas responderam a nove de cada dez clientes em até ${people}.`,
        agents === null ? '' : `Agentes responderam a nove de cada dez em até ${agents}.`,
      ]
        .join(' ')
        .trim(),
  },
  quota: {
    title: 'Leads de hoje',
    used: (used, limit) => `${used} de ${limit} leads novos desde a meia-noite UTC.`,
    unlimited: (used) => `${used} leads novos desde a meia-noite UTC. Não há limite.`,
  },
  begin: {
    title: 'Primeiros passos',
    putAway: 'Dispensar',
    done: 'Feito',
    open: 'A fazer',
    curl: 'Comando',
    connect: {
      what: 'Conecte um número',
      why: 'Um oficial, o de um parceiro, ou o telefone simulado para experimentar.',
      action: 'Ir para as conexões',
    },
    key: {
      what: 'Crie uma chave de API',
      why: 'Programas e agentes de IA se conectam com uma.',
      action: 'Ir para as chaves de API',
    },
    call: { what: 'Crie o primeiro lead', why: 'Ponha a sua chave e execute isto em um terminal.' },
    form: {
      what: 'Monte um formulário',
      why: 'O que as pessoas preenchem no seu site vira um lead.',
      action: 'Ir para os formulários',
    },
    invite: { what: 'Convide a equipe', why: 'As pessoas entram com um link.', action: 'Ir para os membros' },
  },
}
