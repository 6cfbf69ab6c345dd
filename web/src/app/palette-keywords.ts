import type { SectionName } from '../settings/sections.ts'

// Synonyms in all three languages, so that a word in another language than that of the app also matches. Never shown.

export const pageKeywords: Record<string, string> = {
  home: 'start overview dashboard statistics inicio panel resumen estadísticas início painel resumo estatísticas',
  inbox: 'conversations messages chat bandeja conversaciones mensajes caixa de entrada conversas mensagens',
  leads: 'customers contacts people pipeline clientes contactos personas contatos pessoas funil embudo',
  forms: 'formularios formulários landing captura',
  tasks:
    'to-do reminders follow-up due tareas recordatorios pendientes seguimiento tarefas lembretes pendências acompanhamento',
  broadcasts: 'campaigns bulk mass marketing newsletter campañas masivo difusión campanhas em massa disparo',
  sequences:
    'drip follow-up nurture campaign cadence secuencias seguimiento campaña cadencia sequências acompanhamento campanha cadência',
  knowledge:
    'knowledge base articles answers help faq documentation conocimiento artículos respuestas ayuda preguntas conhecimento artigos respostas ajuda perguntas',
  connections: 'numbers whatsapp channels phones conexiones números canales conexões canais telefones teléfonos',
  templates:
    'message templates hsm whatsapp review marketing utility plantillas mensajes revisión modelos mensagens revisão aprovação',
  scenarios:
    'tests agents evaluation simulation sandbox escenarios pruebas agentes simulación cenários testes simulação avaliação',
  keys: 'api keys agents claves agentes chaves',
  webhooks: 'events endpoints deliveries eventos entregas',
  costs:
    'billing prices charges rate card money budgets costos precios cargos facturación presupuestos custos preços cobranças faturamento orçamentos',
  reports:
    'statistics analytics kpi response time conversion funnel informes estadísticas análisis tiempo de respuesta conversión relatórios estatísticas análises tempo de resposta conversão',
  review:
    'agents quality scorecard numbers resolution rate revisión agentes calidad números tasa de resolución avaliação qualidade números taxa de resolução',
  settings: 'preferences configuration ajustes configuración configurações preferências',
  profile:
    'account password name two-factor 2fa sessions language away perfil cuenta idioma ausente contraseña conta senha dois fatores dos pasos sesiones sessões',
}

export const sectionKeywords: Record<SectionName, string> = {
  workspace:
    'name country currency money quota statuses stages pipeline nombre país moneda estados etapas nome moeda cota status espaço espacio',
  hours:
    'opening times time zone schedule holidays away message feriados ausencia ausência horario zona horaria horário fuso expediente atendimento',
  goals: 'sla service level targets response time objetivos niveles servicio metas níveis atendimento',
  members: 'people team colleagues invite roles personas equipo invitar pessoas equipe convidar papéis',
  routing:
    'teams assign round robin queue availability limits equipos asignar turnos disponibilidad límites equipes distribuir fila disponibilidade limites',
  fields: 'custom properties columns campos personalizados propiedades columnas propriedades colunas',
  labels: 'tags etiquetas marcadores',
  replies: 'snippets templates shortcuts respuestas atajos respostas atalhos modelos',
  filters: 'views vistas filtros visões guardados salvos',
  automation:
    'rules macros triggers workflows automation reglas macros automatización disparadores regras macros automação gatilhos',
  satisfaction:
    'csat ratings survey feedback stars score satisfacción encuesta valoración nota estrellas satisfação pesquisa avaliação estrelas',
  sources:
    'lead ads webhooks utm attribution campaigns facebook instagram anuncios orígenes campañas atribución anúncios origens campanhas atribuição',
  agents: 'ai bots stop agentes ia parar detener',
  instructions:
    'agents prompt ai versions history publish draft instrucciones agentes versiones historial borrador instruções versões histórico rascunho',
  tokens: 'programs api programas tokens',
  retention: 'privacy delete erase data gdpr lgpd retención privacidad borrar datos retenção privacidade apagar dados',
  audit: 'log history who did registro auditoría historial auditoria histórico quem fez',
  workspaces: 'installation instalación instalação espacios espaços',
  sso: 'sso oidc openid scim saml identity provider login keycloak okta entra google identidad proveedor inicio sesión identidade provedor entrada',
  about: 'version health licence versión estado acerca versão sobre saúde',
}

export const actionKeywords = {
  conversation:
    'new start conversation write message send compose nueva iniciar conversación escribir mensaje nova iniciar conversa escrever mensagem',
  lead: 'new create add lead contact customer nuevo nueva crear añadir agregar contacto cliente novo nova criar adicionar contato',
  form: 'new create landing page nuevo nueva crear formulario novo nova criar formulário',
  key: 'new create api key agent nuevo nueva crear clave agente novo nova criar chave',
  agent: 'connect agent ai mcp claude chatgpt n8n langchain oauth conectar agente ia',
  webhook: 'new create webhook endpoint nuevo nueva crear novo nova criar',
  connection: 'new add connect number phone whatsapp nuevo nueva añadir agregar conectar número novo nova adicionar',
  import: 'upload csv excel file spreadsheet importar subir archivo planilla enviar arquivo planilha',
  export: 'download csv excel backup exportar descargar baixar planilha',
  board: 'kanban pipeline columns tablero columnas embudo quadro colunas funil',
  trash: 'deleted bin restore papelera borrados lixeira apagados restaurar',
  invite: 'invite member colleague team user invitar miembro equipo usuario convidar membro equipe usuário',
  bell: 'bell alerts mentions told unread campana avisos menciones alertas notificaciones sino menções notificações notifications',
  notices:
    'quiet hours sound push browser do not disturb silence sonido silencio navegador horas silenciosas no molestar som silêncio não perturbe notificaciones notificações notifications avisos',
  light: 'light theme white day mode claro tema blanco día branco dia modo',
  dark: 'dark theme black night mode oscuro tema negro noche escuro preto noite modo',
  auto: 'system theme automatic appearance sistema tema automático apariencia aparência',
  language:
    'language idioma lengua língua english inglés inglês español espanhol spanish português portugués portuguese',
  keys: 'keyboard shortcuts help atajos teclado ayuda atalhos ajuda',
  docs: 'api docs reference documentation developers referencia documentación desarrolladores referência documentação desenvolvedores',
  signOut: 'sign out log out exit leave cerrar sesión salir sair encerrar sessão',
} as const
