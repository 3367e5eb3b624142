import { main } from './cli/main.ts';

// Everything printed has been flushed by then: leaving at once spares the wait for sockets and timers.
void main(process.argv.slice(2)).then((code) => process.exit(code));
