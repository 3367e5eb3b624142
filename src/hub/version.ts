/** Set by the build; tests that run the sources see a version that every release is newer than. */
export const version: string = process.env['AGENT_BUS_VERSION'] ?? '0.0.0-dev';
