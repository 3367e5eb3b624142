/** What an open agent shows of itself to A2A clients, in the shape of 1.0 and in that of 0.3. */
import type { AgentCard, AgentInterface, AgentSkill } from '@a2a-js/sdk';
import type { AgentRecord } from '../../core/model.ts';

export const protocolVersions = ['1.0', '0.3'] as const;
export type ProtocolVersion = (typeof protocolVersions)[number];

const bindings = ['JSONRPC', 'HTTP+JSON'] as const;
const modes = ['text/plain', 'application/json'];
const tokenHint = 'The token of an agent of this bus; `agent-bus register NAME` makes one.';

export function openCard(agent: AgentRecord, url: string, version: string): AgentCard {
  return {
    name: agent.name,
    description: agent.about || `The agent "${agent.name}" of this machine’s Agent Bus.`,
    version,
    supportedInterfaces: protocolVersions.flatMap((protocolVersion) =>
      bindings.map((protocolBinding) => ({ url, protocolBinding, protocolVersion, tenant: '' })),
    ),
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { scheme: 'bearer', bearerFormat: '', description: tokenHint },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: skillsOf(agent),
    signatures: [],
  };
}

/**
 * The same for peers of 0.3. It names the interfaces of 1.0 as well, for a client of 1.0 that asks without saying so.
 */
export function legacyCard(card: AgentCard): Record<string, unknown> {
  const [first, ...others] = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === '0.3');
  const transport = ({ url, protocolBinding }: AgentInterface): object => ({ url, transport: protocolBinding });
  return {
    name: card.name,
    description: card.description,
    version: card.version,
    protocolVersion: '0.3.0',
    url: first?.url,
    preferredTransport: first?.protocolBinding,
    additionalInterfaces: others.map(transport),
    supportedInterfaces: card.supportedInterfaces,
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: false,
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: tokenHint } },
    security: [{ bearer: [] }],
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(({ id, name, description, tags }) => ({ id, name, description, tags })),
  };
}

function skillsOf(agent: AgentRecord): AgentSkill[] {
  if (agent.skills.length === 0) {
    return [skill('general', 'Anything it can help with', agent.about || 'Answers questions and takes on tasks.', [])];
  }
  return agent.skills.map((name, at) => skill(skillId(name, at), name, name, [name]));
}

function skill(id: string, name: string, description: string, tags: string[]): AgentSkill {
  return { id, name, description, tags, examples: [], inputModes: [], outputModes: [], securityRequirements: [] };
}

/** Readable where the name allows it, and never the same for two skills. */
function skillId(name: string, at: number): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return slug ? `${slug}-${at + 1}` : `skill-${at + 1}`;
}
