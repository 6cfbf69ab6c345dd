import type { SimulatedTemplate } from '../world.ts'

/** Templates in every state that a connector has to tell apart. */
export const demoTemplates: readonly Omit<SimulatedTemplate, 'id'>[] = [
  {
    name: 'welcome_back',
    language: 'pt_BR',
    status: 'APPROVED',
    category: 'MARKETING',
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'BODY', text: 'Olá {{1}}, sentimos sua falta! Podemos ajudar com {{2}}?' },
      { type: 'FOOTER', text: 'Parley Demo' },
    ],
  },
  {
    name: 'order_update',
    language: 'en',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'NAMED',
    components: [{ type: 'BODY', text: 'Hi {{first_name}}, your order {{order_id}} ships today.' }],
  },
  {
    name: 'order_update',
    language: 'es',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'NAMED',
    components: [{ type: 'BODY', text: 'Hola {{first_name}}, tu pedido {{order_id}} sale hoy.' }],
  },
  {
    name: 'appointment_reminder',
    language: 'en',
    status: 'APPROVED',
    category: 'UTILITY',
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'BODY', text: 'Reminder: we see you on {{1}} at {{2}}.' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'I will be there' },
          { type: 'QUICK_REPLY', text: 'Another day' },
        ],
      },
    ],
  },
  {
    name: 'summer_sale',
    language: 'pt_BR',
    status: 'PENDING',
    category: 'MARKETING',
    parameter_format: 'POSITIONAL',
    components: [{ type: 'BODY', text: 'A liquidação de verão começou, {{1}}!' }],
  },
  {
    name: 'new_catalog',
    language: 'es',
    status: 'APPROVED',
    category: 'MARKETING',
    parameter_format: 'POSITIONAL',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Ya está aquí nuestro nuevo catálogo.' },
    ],
  },
]
