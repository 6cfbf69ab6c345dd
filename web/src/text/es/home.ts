import type { home as en } from '../en/home.ts'

export const home: typeof en = {
  reference: 'Referencia de la API',
  span: 'Período',
  spans: { 7: '7 días', 30: '30 días', 90: '90 días' },
  attention: {
    title: 'Necesita atención',
    nothing: 'Nada necesita tu atención ahora.',
    nameless: 'sin nombre',
    tones: { bad: 'Problema', attention: 'Atención' },
    words: {
      agents_stopped: () => 'Todos los agentes están detenidos. Las personas responden a todas las conversaciones.',
      connection_unavailable: (name) => `${name} no está conectado. No se envían ni se reciben mensajes.`,
      quota_reached: (_, n) =>
        `Se alcanzó el límite de leads de hoy: ${n}. Los nuevos se rechazan hasta la medianoche UTC.`,
      customers_waiting: (_, n) => (n === 1 ? 'Un cliente está esperando' : `${n} clientes están esperando`),
      key_paused: (name) => `La clave de API ${name} se repetía y se puso en pausa un rato.`,
      webhook_disabled: (name) => `El webhook ${name} se apagó después de demasiados fallos.`,
      webhook_failing: (name, n) => `El webhook ${name} ha fallado ${n} veces seguidas.`,
      acknowledgement_missing: (name) => `Alguien tiene que confirmar el riesgo de ${name}.`,
      key_expired: (name) => `La clave de API ${name} ha caducado.`,
      acknowledgement_ending: (name) => `La confirmación del riesgo de ${name} caduca pronto.`,
      key_expiring: (name) => `La clave de API ${name} caduca pronto.`,
      quota_near: (_, n) => `El límite de leads de hoy está casi alcanzado: ${n}.`,
    },
  },
  figures: {
    newLeads: 'Leads nuevos',
    inDays: (n) => `en ${n} días`,
    today: 'Hoy',
    leads: 'leads nuevos',
    allLeads: 'Todos los leads',
    now: 'ahora',
    waiting: 'Esperando',
    waitingFor: (minutes) => `desde hace ${minutes} minutos o más`,
    people: 'Las personas responden en',
    agents: 'Los agentes responden en',
    median: 'mediana',
  },
  charts: {
    leadsPerDay: 'Leads por día',
    bySource: 'Leads nuevos por origen',
    byStatus: 'Todos los leads por estado',
    answerTimes: 'Tiempo hasta la primera respuesta',
    people: 'Personas',
    agents: 'Agentes',
    otherApps: 'Otras aplicaciones',
    noLeads: 'Aún no hay leads.',
    noAnswers: 'No se respondió a nadie en este tiempo.',
    slowest: (people, agents) =>
      [
        'La mediana de cada día.',
        people === null ? '' : `Las personas respondieron a nueve de cada diez clientes en ${people} o menos.`,
        agents === null ? '' : `Los agentes respondieron a nueve de cada diez en ${agents} o menos.`,
      ]
        .join(' ')
        .trim(),
  },
  quota: {
    title: 'Leads de hoy',
    used: (used, limit) => `${used} de ${limit} leads nuevos desde la medianoche UTC.`,
    unlimited: (used) => `${used} leads nuevos desde la medianoche UTC. No hay límite.`,
  },
  begin: {
    title: 'Primeros pasos',
    putAway: 'Descartar',
    done: 'Hecho',
    open: 'Por hacer',
    curl: 'Comando',
    connect: {
      what: 'Conecta un número',
      why: 'Uno oficial, el de un socio, o el teléfono simulado para probar.',
      action: 'Ir a las conexiones',
    },
    key: {
      what: 'Crea una clave de API',
      why: 'Los programas y los agentes de IA se conectan con una.',
      action: 'Ir a las claves de API',
    },
    call: { what: 'Crea el primer lead', why: 'Pon tu clave y ejecuta esto en una terminal.' },
    form: {
      what: 'Arma un formulario',
      why: 'Lo que la gente rellena en tu sitio se vuelve un lead.',
      action: 'Ir a los formularios',
    },
    invite: { what: 'Invita a tu equipo', why: 'Se unen con un enlace.', action: 'Ir a los miembros' },
  },
}
