/**
 * The sweep of `compose.yml`: MongoDB and RabbitMQ by their variables, the four collections as they are shipped. Change it to yours.
 */
import { archives, chunks, defineSweep, messages, threads } from 'reprise/sweep'

export default defineSweep({ collections: [archives, messages, chunks, threads] })
