/**
 * For `node --import`: servers that name no address listen on the loopback only, whatever their makers' default is.
 */
import { Server } from 'node:net'

const { listen } = Server.prototype
Server.prototype.listen = function listenHere(this: Server, ...given: unknown[]): Server {
  const [port, ...more] = given
  const isBare = typeof port === 'number' || typeof port === 'string'
  return Reflect.apply(listen, this, isBare && typeof more[0] !== 'string' ? [port, '127.0.0.1', ...more] : given)
}
